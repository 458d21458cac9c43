/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * error.h -- every protocol error this stack can find, and what a Terminate
 * says about it: layer, error type, error code, which headers go along
 * (RFC 5040 section 4.8, RFC 5041 section 8.2, RFC 5044 section 8, RFC 6581)
 */

#ifndef RPMA_IWARP_ERROR_H
#define RPMA_IWARP_ERROR_H 1

#include <stdint.h>

enum iwarp_err {
	IWARP_OK = 0,
	/* MPA (layer 2) */
	IWARP_MPA_CRC,	  /* 2/0/02 */
	IWARP_MPA_LENGTH, /* 2/0/03 */
	IWARP_MPA_FRAME,  /* 2/0/04 bad start-up frame */
	IWARP_MPA_LOCAL,  /* 2/0/05 local catastrophic */
	IWARP_MPA_IRD,	  /* 2/0/06 */
	IWARP_MPA_RTR,	  /* 2/0/07 */
	/* DDP (layer 1) */
	IWARP_DDP_LOCAL,       /* 1/0/00 */
	IWARP_DDP_T_STAG,      /* 1/1/00 */
	IWARP_DDP_T_BOUNDS,    /* 1/1/01 */
	IWARP_DDP_T_STREAM,    /* 1/1/02 STag of another PD */
	IWARP_DDP_T_WRAP,      /* 1/1/03 */
	IWARP_DDP_T_VERSION,   /* 1/1/04 */
	IWARP_DDP_U_QN,	       /* 1/2/01 */
	IWARP_DDP_U_NO_BUFFER, /* 1/2/02 */
	IWARP_DDP_U_MSN,       /* 1/2/03 */
	IWARP_DDP_U_MO,	       /* 1/2/04 */
	IWARP_DDP_U_LENGTH,    /* 1/2/05 message too long for the receive */
	IWARP_DDP_U_VERSION,   /* 1/2/06 */
	/* RDMAP (layer 0) */
	IWARP_RDMAP_LOCAL,	  /* 0/0/ff */
	IWARP_RDMAP_STAG,	  /* 0/1/00 */
	IWARP_RDMAP_BOUNDS,	  /* 0/1/01 */
	IWARP_RDMAP_ACCESS,	  /* 0/1/02 */
	IWARP_RDMAP_STREAM,	  /* 0/1/03 STag of another PD */
	IWARP_RDMAP_WRAP,	  /* 0/1/04 */
	IWARP_RDMAP_INVALIDATE,	  /* 0/1/09 */
	IWARP_RDMAP_VERSION,	  /* 0/2/05 */
	IWARP_RDMAP_OPCODE,	  /* 0/2/06 */
	IWARP_RDMAP_CATASTROPHIC, /* 0/2/07 this stream; also: misaligned
					 * atomic, failed media flush */
	IWARP_RDMAP_UNSPECIFIED,  /* 0/2/ff */
	IWARP_ERR_MAX,
};

/* Which headers of the offending segment a Terminate carries. */
enum iwarp_term_hdr {
	IWARP_TERM_NONE,
	IWARP_TERM_DDP,	     /* M and D */
	IWARP_TERM_DDP_READ, /* M, D and, for a Read Request, R */
};

struct iwarp_err_info {
	uint8_t layer;
	uint8_t etype;
	uint8_t code;
	enum iwarp_term_hdr headers;
	const char *text; /* for the log: a few words, lower case */
};

extern const struct iwarp_err_info iwarp_err_info[IWARP_ERR_MAX];

#endif /* RPMA_IWARP_ERROR_H */
