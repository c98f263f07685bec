// SPDX-License-Identifier: GPL-2.0 OR Apache-2.0
/* DCTCP for a kernel that has none (CONFIG_TCP_CONG_DCTCP): thesis 2.2.1, RFC 8257.
 *
 * Sender: alpha, once per window of data, from the share of delivered packets whose ACKs had ECN-Echo;
 * the window is cut by alpha / 2 by the kernel's CWR state, at most once a window and only in a window
 * with a mark. Receiver: the two-state machine of figure 2.10. When the CE bit changes while an ACK is
 * delayed, what came before is acknowledged at once with the old bit, so that each ACK covers packets of
 * one colour.
 *
 * The kernel keeps our state in icsk_ca_priv. Types hold just the members that are used; CO-RE finds
 * them in the running kernel.
 */
#include <linux/types.h>
#include <stdbool.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

char LICENSE[] SEC("license") = "GPL";

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)
struct sock {
};

struct inet_connection_sock {
	struct {
		__u8 pending;
	} icsk_ack;
	__u64 icsk_ca_priv[1];
};

struct tcp_sock {
	struct inet_connection_sock inet_conn;
	__u32 snd_cwnd;
	__u32 snd_ssthresh;
	__u32 snd_una;
	__u32 snd_nxt;
	__u32 rcv_nxt;
	__u32 delivered;
	__u32 delivered_ce;
	__u8 ecn_flags;
};

enum inet_csk_ack_state_t { ICSK_ACK_TIMER = 2, ICSK_ACK_NOW = 16 };

enum tcp_ca_event { CA_EVENT_LOSS = 3, CA_EVENT_ECN_NO_CE = 4, CA_EVENT_ECN_IS_CE = 5 };
#pragma clang attribute pop

/* Only the members that are set below; libbpf looks them up by name. */
struct tcp_congestion_ops {
	void (*init)(struct sock *sk);
	__u32 (*ssthresh)(struct sock *sk);
	void (*cong_avoid)(struct sock *sk, __u32 ack, __u32 acked);
	void (*in_ack_event)(struct sock *sk, __u32 flags);
	void (*cwnd_event)(struct sock *sk, enum tcp_ca_event event);
	__u32 (*undo_cwnd)(struct sock *sk);
	char name[16];
	__u32 flags;
};

#define TCP_CONG_NEEDS_ECN 2
#define TCP_ECN_DEMAND_CWR 4

/* Alpha as a share of 2^20. */
#define ONE (1U << 20)
/* g = 1/16 (thesis 2.2.4). */
#define G_SHIFT 4
#define LEAST_CWND 2U

struct dctcp {
	__u32 alpha;
	__u32 window_end;
	__u32 delivered;
	__u32 delivered_ce;
	__u32 last_rcv_nxt;
	__u32 last_cwnd;
	__u8 last_ce;
};

extern void tcp_reno_cong_avoid(struct sock *sk, __u32 ack, __u32 acked) __ksym;

static __always_inline struct tcp_sock *tcp(const struct sock *sk)
{
	return (struct tcp_sock *)sk;
}

static __always_inline struct dctcp *state(const struct sock *sk)
{
	void *room = ((struct inet_connection_sock *)sk)->icsk_ca_priv;

	/* What follows are accesses to our struct, not to the kernel's array, which CO-RE would check. */
	asm volatile("" : "+r"(room));
	return room;
}

static __always_inline void begin_window(const struct tcp_sock *tp, struct dctcp *dctcp)
{
	dctcp->window_end = tp->snd_nxt;
	dctcp->delivered = tp->delivered;
	dctcp->delivered_ce = tp->delivered_ce;
}

SEC("struct_ops")
void BPF_PROG(dctcp_init, struct sock *sk)
{
	struct dctcp *dctcp = state(sk);

	/* The first window is taken for congested, as RFC 8257 4.2 and Linux have it. */
	dctcp->alpha = ONE;
	dctcp->last_rcv_nxt = tcp(sk)->rcv_nxt;
	dctcp->last_ce = 0;
	dctcp->last_cwnd = 0;
	begin_window(tcp(sk), dctcp);
}

SEC("struct_ops")
__u32 BPF_PROG(dctcp_ssthresh, struct sock *sk)
{
	__u32 cwnd = tcp(sk)->snd_cwnd;
	__u32 cut = ((__u64)cwnd * state(sk)->alpha) >> 21;

	state(sk)->last_cwnd = cwnd;
	return cwnd - cut > LEAST_CWND ? cwnd - cut : LEAST_CWND;
}

SEC("struct_ops")
void BPF_PROG(dctcp_in_ack_event, struct sock *sk, __u32 flags)
{
	const struct tcp_sock *tp = tcp(sk);
	struct dctcp *dctcp = state(sk);

	if ((__s32)(tp->snd_una - dctcp->window_end) <= 0)
		return;
	__u32 delivered = tp->delivered - dctcp->delivered;
	__u32 marked = tp->delivered_ce - dctcp->delivered_ce;

	if (delivered) {
		__u64 share = ((__u64)marked << 20) / delivered;

		if (share > ONE)
			share = ONE;
		dctcp->alpha = dctcp->alpha - (dctcp->alpha >> G_SHIFT) + (share >> G_SHIFT);
		if (dctcp->alpha > ONE)
			dctcp->alpha = ONE;
	}
	begin_window(tp, dctcp);
}

static __always_inline void set_echo(struct tcp_sock *tp, bool ce)
{
	if (ce)
		tp->ecn_flags |= TCP_ECN_DEMAND_CWR;
	else
		tp->ecn_flags &= ~TCP_ECN_DEMAND_CWR;
}

static __always_inline void see_ce(struct sock *sk, bool ce)
{
	struct tcp_sock *tp = tcp(sk);
	struct dctcp *dctcp = state(sk);

	if (ce != dctcp->last_ce) {
		if (tp->inet_conn.icsk_ack.pending & ICSK_ACK_TIMER) {
			set_echo(tp, dctcp->last_ce);
			bpf_tcp_send_ack(tp, dctcp->last_rcv_nxt);
		}
		tp->inet_conn.icsk_ack.pending |= ICSK_ACK_NOW;
	}
	dctcp->last_rcv_nxt = tp->rcv_nxt;
	dctcp->last_ce = ce;
	set_echo(tp, ce);
}

SEC("struct_ops")
void BPF_PROG(dctcp_cwnd_event, struct sock *sk, enum tcp_ca_event event)
{
	switch (event) {
	case CA_EVENT_ECN_IS_CE:
		see_ce(sk, true);
		break;
	case CA_EVENT_ECN_NO_CE:
		see_ce(sk, false);
		break;
	default:
		break;
	}
}

SEC("struct_ops")
__u32 BPF_PROG(dctcp_undo_cwnd, struct sock *sk)
{
	__u32 cwnd = tcp(sk)->snd_cwnd;

	return cwnd > state(sk)->last_cwnd ? cwnd : state(sk)->last_cwnd;
}

SEC("struct_ops")
void BPF_PROG(dctcp_cong_avoid, struct sock *sk, __u32 ack, __u32 acked)
{
	tcp_reno_cong_avoid(sk, ack, acked);
}

SEC(".struct_ops")
struct tcp_congestion_ops hull_dctcp = {
	.init = (void *)dctcp_init,
	.ssthresh = (void *)dctcp_ssthresh,
	.cong_avoid = (void *)dctcp_cong_avoid,
	.in_ack_event = (void *)dctcp_in_ack_event,
	.cwnd_event = (void *)dctcp_cwnd_event,
	.undo_cwnd = (void *)dctcp_undo_cwnd,
	.name = "hull_dctcp",
	.flags = TCP_CONG_NEEDS_ECN,
};
