// SPDX-License-Identifier: GPL-2.0 OR Apache-2.0
/* DCTCP for a kernel that has none (CONFIG_TCP_CONG_DCTCP): thesis 2.2.1, RFC 8257.
 *
 * Sender: alpha, once per window of data, from the share of delivered packets whose ACKs had ECN-Echo;
 * the window is cut by alpha / 2 as the kernel enters CWR, which it does at most once a window and only
 * in a window with a mark; by a half as it enters Recovery, to one packet after a timeout. ssthresh is
 * halved at a timeout as the kernel reports with CA_EVENT_LOSS: not in a window that was reduced already, nor
 * when the timer fires again without an acknowledgment in between (RFC 5681, 3.1). Receiver: the
 * two-state machine of figure 2.10. When the CE bit changes while an ACK is delayed, the earlier
 * packets are acknowledged at once with the old bit, so that each ACK covers packets of one colour.
 *
 * Window and ssthresh are kept here and written in cong_control at each ACK; the values that ssthresh
 * and undo_cwnd return are not relied on. On one kernel (6.18, with the return thunks that mitigate
 * SRSO) a call of ssthresh occasionally returned a leftover of the stack, the address
 * srso_return_thunk + 5, as if the program had not run; the kernel's own window reduction then works
 * with 2183148773 packets.
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
	__u8 icsk_ca_state : 5;
	__u64 icsk_ca_priv[1];
};

struct tcp_sock {
	struct inet_connection_sock inet_conn;
	__u32 snd_cwnd;
	__u32 snd_ssthresh;
	__u32 snd_una;
	__u32 snd_nxt;
	__u32 rcv_nxt;
	__u32 prior_cwnd;
	__u32 max_packets_out;
	__u32 delivered;
	__u32 delivered_ce;
	__u8 ecn_flags;
};

enum inet_csk_ack_state_t { ICSK_ACK_TIMER = 2, ICSK_ACK_NOW = 16 };

enum tcp_ca_state { TCP_CA_CWR = 2, TCP_CA_Recovery = 3, TCP_CA_Loss = 4 };

enum tcp_ca_event { CA_EVENT_LOSS = 3, CA_EVENT_ECN_NO_CE = 4, CA_EVENT_ECN_IS_CE = 5 };
#pragma clang attribute pop

/* Only the members that are set below; libbpf looks them up by name. */
struct tcp_congestion_ops {
	void (*init)(struct sock *sk);
	__u32 (*ssthresh)(struct sock *sk);
	void (*set_state)(struct sock *sk, __u8 state);
	void (*cong_control)(struct sock *sk);
	void (*in_ack_event)(struct sock *sk, __u32 flags);
	void (*cwnd_event)(struct sock *sk, enum tcp_ca_event event);
	__u32 (*undo_cwnd)(struct sock *sk);
	char name[16];
	__u32 flags;
};

#define TCP_CONG_NEEDS_ECN 2
#define TCP_ECN_DEMAND_CWR 4

/* Scale of alpha: 2^20 is 1. */
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
	__u32 last_cwnd; /* before the last cut */
	__u32 cwnd;
	__u32 ssthresh;
	__u32 grown;     /* packets acknowledged since the window last grew by one */
	__u32 counted;   /* of tp->delivered, as of the last ACK */
	__u8 last_ce;
};

static __always_inline struct tcp_sock *tcp(const struct sock *sk)
{
	return (struct tcp_sock *)sk;
}

static __always_inline struct dctcp *state(const struct sock *sk)
{
	void *room = ((struct inet_connection_sock *)sk)->icsk_ca_priv;

	/* Later accesses are to our struct, not to the kernel's array, which CO-RE would check. */
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

	/* The first window counts as congested, as in RFC 8257, 4.2, and in Linux. */
	dctcp->alpha = ONE;
	dctcp->last_rcv_nxt = tcp(sk)->rcv_nxt;
	dctcp->last_ce = 0;
	dctcp->last_cwnd = 0;
	dctcp->cwnd = tcp(sk)->snd_cwnd;
	dctcp->ssthresh = tcp(sk)->snd_ssthresh;
	dctcp->grown = 0;
	dctcp->counted = tcp(sk)->delivered;
	begin_window(tcp(sk), dctcp);
}

static __always_inline void cut_to(struct dctcp *dctcp, __u32 cwnd)
{
	dctcp->last_cwnd = dctcp->cwnd;
	dctcp->ssthresh = cwnd > LEAST_CWND ? cwnd : LEAST_CWND;
	dctcp->cwnd = dctcp->ssthresh;
	dctcp->grown = 0;
}

SEC("struct_ops")
void BPF_PROG(dctcp_set_state, struct sock *sk, __u8 new_state)
{
	struct dctcp *dctcp = state(sk);

	if (new_state == TCP_CA_CWR) {
		cut_to(dctcp, dctcp->cwnd - (__u32)(((__u64)dctcp->cwnd * dctcp->alpha) >> 21));
	} else if (new_state == TCP_CA_Recovery) {
		cut_to(dctcp, dctcp->cwnd / 2);
	} else if (new_state == TCP_CA_Loss) {
		/* Follows each timeout, after CA_EVENT_LOSS if there is one. */
		dctcp->cwnd = 1;
		dctcp->grown = 0;
	}
}

/* Slow start and additive increase as in NewReno, for a window that is in use. */
static __always_inline void grow(const struct tcp_sock *tp, struct dctcp *dctcp, __u32 acked)
{
	if (dctcp->cwnd >= 2 * tp->max_packets_out)
		return;
	if (dctcp->cwnd < dctcp->ssthresh) {
		dctcp->cwnd += acked;
		if (dctcp->cwnd > dctcp->ssthresh)
			dctcp->cwnd = dctcp->ssthresh;
		return;
	}
	dctcp->grown += acked;
	if (dctcp->grown >= dctcp->cwnd) {
		dctcp->grown -= dctcp->cwnd;
		dctcp->cwnd++;
	}
}

SEC("struct_ops")
void BPF_PROG(dctcp_cong_control, struct sock *sk)
{
	struct tcp_sock *tp = tcp(sk);
	struct dctcp *dctcp = state(sk);
	__u32 acked = tp->delivered - dctcp->counted;
	__u8 now = BPF_CORE_READ_BITFIELD(&tp->inet_conn, icsk_ca_state);

	dctcp->counted = tp->delivered;
	if (now != TCP_CA_CWR && now != TCP_CA_Recovery)
		grow(tp, dctcp, acked);
	tp->snd_ssthresh = dctcp->ssthresh;
	tp->snd_cwnd = dctcp->cwnd;
}

SEC("struct_ops")
__u32 BPF_PROG(dctcp_ssthresh, struct sock *sk)
{
	return state(sk)->ssthresh;
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
	struct dctcp *dctcp = state(sk);

	switch (event) {
	case CA_EVENT_LOSS:
		cut_to(dctcp, dctcp->cwnd / 2);
		break;
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
	struct dctcp *dctcp = state(sk);

	/* The supposed loss was spurious. */
	if (dctcp->cwnd < dctcp->last_cwnd)
		dctcp->cwnd = dctcp->last_cwnd;
	return dctcp->cwnd;
}

SEC(".struct_ops")
struct tcp_congestion_ops hull_dctcp = {
	.init = (void *)dctcp_init,
	.ssthresh = (void *)dctcp_ssthresh,
	.set_state = (void *)dctcp_set_state,
	.cong_control = (void *)dctcp_cong_control,
	.in_ack_event = (void *)dctcp_in_ack_event,
	.cwnd_event = (void *)dctcp_cwnd_event,
	.undo_cwnd = (void *)dctcp_undo_cwnd,
	.name = "hull_dctcp",
	.flags = TCP_CONG_NEEDS_ECN,
};
