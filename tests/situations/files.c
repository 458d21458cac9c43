/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * files.c -- memory of files that are not what they seem: cut short, on a disk that
 * is full, in huge pages
 *
 * Both ends live in this process: a store that the kernel cannot carry out would
 * kill the test.
 */

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pair_ops.h"
#include "pair_wait.h"

#define SIZE ((size_t)1 << 20)

/* A region of a file, in the place of the one that the field has on this side */
struct filed {
	struct field f;
	int side;
	struct region kept;
	char *map;
	size_t size;
};

static void filed_open(struct filed *d, struct net *n, int side, int fd, size_t size)
{
	struct region *r = &d->f.mem[side];

	field_connect(&d->f, n, NULL, SIZE);
	d->side = side;
	d->kept = *r;
	d->size = size;
	d->map = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	assert_ptr_not_equal(d->map, MAP_FAILED);
	*r = (struct region){ .data = d->map, .size = size };
	assert_ok(rpma_mr_reg(n->peer[side], d->map, size, USAGE_ALL, &r->mr));
	r->remote = remote_of(r->mr);
}

static void filed_close(struct filed *d)
{
	struct region *r = &d->f.mem[d->side];

	assert_ok(rpma_mr_remote_delete(&r->remote));
	assert_ok(rpma_mr_dereg(&r->mr));
	*r = d->kept;
	munmap(d->map, d->size);
	field_drop(&d->f);
}

static int file_of(size_t size)
{
	FILE *file = tmpfile();
	int fd;

	assert_non_null(file);
	fd = dup(fileno(file));
	fclose(file);
	assert_int_equal(ftruncate(fd, (off_t)size), 0);
	return fd;
}

/* Others are served as before. */
static void check_alive(struct net *n)
{
	struct pair p;

	pair_connect(&p, n, NULL);
	pair_exchange(&p);
	pair_close(&p);
}

/* ---- cut short ------------------------------------------------------------------ */

static void cut_target(struct net *n, int which, size_t len, size_t off)
{
	int fd = file_of(SIZE);
	struct filed d;
	struct xfer x;

	case_is("%s of %zu at %zu", ops[which].name, len, off);
	filed_open(&d, n, SERVER, fd, SIZE);
	memset(d.map, 1, SIZE);
	assert_int_equal(ftruncate(fd, 4096), 0);
	x = field_xfer(&d.f, CLIENT, len, CTX(1));
	x.remote_off = off;
	op_post(&ops[which], &x);
	expect_status(&d.f.pair.side[CLIENT], CTX(1), IBV_WC_REM_OP_ERR);
	expect_end(d.f.pair.side[CLIENT].conn);
	expect_end(d.f.pair.side[SERVER].conn);
	filed_close(&d);
	close(fd);
}

static void b56_target_cut_short(void **state)
{
	struct net n;

	(void)state;
	net_open(&n);
	cut_target(&n, OP_WRITE, SIZE, 0);
	cut_target(&n, OP_WRITE, 8, 65536);
	cut_target(&n, OP_WRITE, 9, 4096);
	cut_target(&n, OP_READ, SIZE, 0);
	cut_target(&n, OP_READ, 8, 65536);
	cut_target(&n, OP_ATOMIC_WRITE, 8, 65536);
	check_alive(&n);
	net_close(&n);
}

/* What is left is made durable; the rest is not there any more. */
static void b56_flush_of_what_was_cut(void **state)
{
	int fd = file_of(SIZE);
	struct filed d;
	struct xfer x;
	struct net n;

	(void)state;
	net_open(&n);
	filed_open(&d, &n, SERVER, fd, SIZE);
	memset(d.map, 1, SIZE);
	assert_int_equal(ftruncate(fd, 4096), 0);
	x = field_xfer(&d.f, CLIENT, SIZE, CTX(1));
	op_post(&ops[OP_FLUSH_PERSISTENT], &x);
	expect_done(&d.f.pair.side[CLIENT], CTX(1));
	filed_close(&d);
	close(fd);
	net_close(&n);
}

/* Our own side, of each operation that touches it */
static void b56_local_memory_cut_short(void **state)
{
	static const int which[] = { OP_WRITE, OP_READ, OP_SEND };
	struct net n;

	(void)state;
	net_open(&n);
	for (size_t i = 0; i < ARRAY_LEN(which); i++) {
		int fd = file_of(SIZE);
		struct filed d;
		struct xfer x;

		filed_open(&d, &n, CLIENT, fd, SIZE);
		assert_int_equal(ftruncate(fd, 4096), 0);
		post_recv(&d.f.pair.side[SERVER], &d.f.mem[SERVER], SIZE, CTX(2));
		x = field_xfer(&d.f, CLIENT, SIZE, CTX(1));
		op_post(&ops[which[i]], &x);
		expect_status(&d.f.pair.side[CLIENT], CTX(1), IBV_WC_LOC_PROT_ERR);
		expect_end(d.f.pair.side[CLIENT].conn);
		filed_close(&d);
		close(fd);
	}
	check_alive(&n);
	net_close(&n);
}

static void b56_receive_cut_short(void **state)
{
	int fd = file_of(SIZE);
	struct ibv_wc wc;
	struct filed d;
	struct xfer x;
	struct net n;

	(void)state;
	net_open(&n);
	filed_open(&d, &n, SERVER, fd, SIZE);
	assert_int_equal(ftruncate(fd, 4096), 0);
	post_recv(&d.f.pair.side[SERVER], &d.f.mem[SERVER], SIZE, CTX(2));
	x = field_xfer(&d.f, CLIENT, SIZE, CTX(1));
	op_post(&ops[OP_SEND], &x);
	expect_recv_status(&d.f.pair.side[SERVER], CTX(2), IBV_WC_LOC_PROT_ERR);
	next_wc(&d.f.pair.side[CLIENT], d.f.pair.side[CLIENT].cq, &wc);
	assert_int_not_equal(wc.status, IBV_WC_SUCCESS);
	filed_close(&d);
	close(fd);
	check_alive(&n);
	net_close(&n);
}

/* ---- a disk that is full ---------------------------------------------------------- */

/* Mounts of our own, which nobody else sees and which go with us */
static void enter_mounts(void)
{
	static bool inside;

	if (inside)
		return;
	if (unshare(CLONE_NEWNS) || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL)) {
		print_message("cannot mount: %s\n", strerror(errno));
		skip();
	}
	inside = true;
}

/* A file of 16 MiB on a disk that has not so much: writing it all must fail. */
static void write_too_much(const char *dir)
{
	const size_t size = 16 << 20;
	char path[256];
	struct region src;
	struct filed d;
	struct net n;
	bool failed = false;
	int fd;

	snprintf(path, sizeof(path), "%s/file", dir);
	fd = open(path, O_CREAT | O_RDWR | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, (off_t)size), 0);
	net_open(&n);
	filed_open(&d, &n, SERVER, fd, size);
	src = d.f.mem[CLIENT];
	fill(src.data, SIZE, 1);
	for (size_t off = 0; off < size && !failed; off += SIZE) {
		struct xfer x = field_xfer(&d.f, CLIENT, SIZE, CTX(1));
		struct ibv_wc wc;

		x.remote_off = off;
		op_post(&ops[OP_WRITE], &x);
		next_wc(&d.f.pair.side[CLIENT], d.f.pair.side[CLIENT].cq, &wc);
		failed = wc.status != IBV_WC_SUCCESS;
		if (failed)
			assert_int_equal(wc.status, IBV_WC_REM_OP_ERR);
		else
			assert_filled(d.map + off, SIZE, 1);
	}
	assert_true(failed);
	filed_close(&d);
	close(fd);
	check_alive(&n);
	net_close(&n);
}

static void b56_full_memory_disk(void **state)
{
	char dir[] = "/tmp/situations-XXXXXX";

	(void)state;
	enter_mounts();
	assert_non_null(mkdtemp(dir));
	if (mount("none", dir, "tmpfs", 0, "size=4m")) {
		print_message("cannot mount a tmpfs: %s\n", strerror(errno));
		rmdir(dir);
		skip();
	}
	write_too_much(dir);
	umount2(dir, MNT_DETACH);
	rmdir(dir);
}

static bool mount_image(const char *dir)
{
	char command[512];

	snprintf(command, sizeof(command),
		"{ truncate -s 8M %s.img && mkfs.ext4 -q -O ^has_journal %s.img && mount -o loop %s.img %s; }"
		" >/dev/null 2>&1",
		dir, dir, dir, dir);
	return system(command) == 0;
}

static void b56_full_ext4_disk(void **state)
{
	char dir[] = "/tmp/situations-XXXXXX", image[64];
	bool mounted;

	(void)state;
	enter_mounts();
	assert_non_null(mkdtemp(dir));
	snprintf(image, sizeof(image), "%s.img", dir);
	mounted = mount_image(dir);
	if (mounted) {
		write_too_much(dir);
		umount2(dir, MNT_DETACH);
	}
	unlink(image);
	rmdir(dir);
	if (!mounted) {
		print_message("cannot mount an image of ext4\n");
		skip();
	}
}

/* ---- huge pages -------------------------------------------------------------------- */

static void b56_huge_pages(void **state)
{
	const size_t size = 2 << 20;
	struct filed d;
	struct net n;
	void *map;
	int fd = memfd_create("huge", MFD_CLOEXEC | MFD_HUGETLB);

	(void)state;
	if (fd < 0 || ftruncate(fd, (off_t)size)) {
		print_message("no huge pages: %s\n", strerror(errno));
		skip();
	}
	map = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (map == MAP_FAILED) {
		print_message("no huge pages are set aside: %s\n", strerror(errno));
		close(fd);
		skip();
	}
	net_open(&n);
	filed_open(&d, &n, SERVER, fd, size);
	fill(d.f.mem[CLIENT].data, SIZE, 5);
	for (uint64_t i = 0; i < 3; i++) {
		static const int which[] = { OP_WRITE, OP_FLUSH_PERSISTENT, OP_READ };
		struct xfer x = field_xfer(&d.f, CLIENT, SIZE, CTX(i));

		x.remote_off = 12345;
		op_post(&ops[which[i]], &x);
		expect_done(&d.f.pair.side[CLIENT], CTX(i));
	}
	assert_filled((char *)map + 12345, SIZE, 5);
	filed_close(&d);
	munmap(map, size);
	close(fd);
	net_close(&n);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(b56_target_cut_short),
		cmocka_unit_test(b56_flush_of_what_was_cut),
		cmocka_unit_test(b56_local_memory_cut_short),
		cmocka_unit_test(b56_receive_cut_short),
		cmocka_unit_test(b56_full_memory_disk),
		cmocka_unit_test(b56_full_ext4_disk),
		cmocka_unit_test(b56_huge_pages),
	};

	test_init();
	return cmocka_run_group_tests_name("situations-files", tests, NULL, NULL);
}
