// SPDX-License-Identifier: GPL-2.0 OR Apache-2.0
/* Phantom queue: hull-core's phantom_queue.rs for an interface, at its egress or at the far side's
 * ingress (paper 2.1 and 5.1: in series with the link, after the switch's port).
 *
 * For each packet: drain for the time since the last one, compare, add; no timer. A packet above the
 * threshold is marked CE if it is ECN-capable, otherwise it is counted and left unchanged. A lock
 * protects the counter, because packets leave on several processors. Their clocks may have been read
 * in another order than they take the lock; a time before the last one drains nothing.
 */
#include "packet.h"

char LICENSE[] SEC("license") = "GPL";

/* Tests set the time in ps as the packet's tstamp and its bytes as cb[0]. */
const volatile bool injected = false;
const volatile __u32 slot = 0;

#define FRACTION_BITS 16
/* Upper bound of the difference of processors' clocks, ps. */
#define SKEW_PS (1ULL << 40)

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, SLOTS);
	__type(key, __u32);
	__type(value, struct phantom_settings);
} phantom_settings SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, SLOTS);
	__type(key, __u32);
	__type(value, struct phantom_queue);
} phantom_queues SEC(".maps");

static __always_inline __u64 credit_ps(__u64 now_ps, __u64 drained_to_ps, __u64 tick_ps)
{
	__u64 elapsed_ps = now_ps - drained_to_ps;

	if (drained_to_ps - now_ps < SKEW_PS)
		return 0;
	return tick_ps ? elapsed_ps - elapsed_ps % tick_ps : elapsed_ps;
}

/* Counts a packet. Returns true if it is above the threshold. The caller holds the lock. */
static __always_inline bool count(struct phantom_queue *queue, const struct phantom_settings *settings,
				  __u64 now_ps, __u32 bytes)
{
	if (queue->byte_units != settings->byte_units) {
		/* A new drain rate: the backlog keeps its bytes. */
		if (queue->byte_units)
			queue->backlog_units =
				queue->backlog_units / queue->byte_units * settings->byte_units;
		queue->byte_units = settings->byte_units;
	}
	__u64 credit = credit_ps(now_ps, queue->drained_to_ps, settings->tick_ps);
	__u64 before = queue->backlog_units;

	queue->drained_to_ps += credit;
	if (credit >> (64 - FRACTION_BITS))
		before = 0;
	else if (before > credit << FRACTION_BITS)
		before -= credit << FRACTION_BITS;
	else
		before = 0;

	__u64 added = bytes > settings->most_bytes ? ~0ULL : settings->byte_units * bytes;
	__u64 after = before + added < before ? ~0ULL : before + added;

	queue->backlog_units = after;
	if (after > queue->most_backlog_units)
		queue->most_backlog_units = after;
	queue->packets++;
	queue->bytes += bytes;
	bool above = (settings->count_arriving ? after : before) > settings->threshold_units;
	queue->above_threshold += above;
	return above;
}

/* Sets CE in an IP header after a VLAN tag in the data, which bpf_skb_ecn_set_ce cannot find. */
static __always_inline bool set_ce_behind_tags(struct __sk_buff *skb, const struct packet *packet)
{
	__u8 old[2];

	if (bpf_skb_load_bytes(skb, packet->network, old, sizeof(old)))
		return false;
	__u8 new[2] = { old[0], old[1] };

	if (packet->version == 4)
		new[1] |= ECN_CE;
	else
		new[1] |= ECN_CE << 4;
	if (packet->version == 4) {
		__be16 from, to;

		__builtin_memcpy(&from, old, 2);
		__builtin_memcpy(&to, new, 2);
		if (bpf_l3_csum_replace(skb, packet->network + 10, from, to, 2))
			return false;
	}
	/* No checksum but TCP's includes the IPv6 header, and TCP's excludes the traffic class. */
	return !bpf_skb_store_bytes(skb, packet->network, new, sizeof(new), 0);
}

SEC("tc")
int phantom(struct __sk_buff *skb)
{
	__u32 key = slot;
	struct phantom_settings *settings = bpf_map_lookup_elem(&phantom_settings, &key);
	struct phantom_queue *queue = bpf_map_lookup_elem(&phantom_queues, &key);
	struct packet packet;

	if (!settings || !queue || !settings->byte_units)
		return TC_ACT_UNSPEC;
	/* A copy of the current settings, because the lock does not protect them. */
	struct phantom_settings now = *settings;
	__u64 now_ps = injected ? skb->tstamp : bpf_ktime_get_ns() * 1000;
	__u32 bytes = counted_bytes(skb, injected);

	if (!injected && bytes <= skb->len) {
		/* At egress the kernel has counted the headers that segmentation adds; at ingress we do. */
		bytes = skb->len;
		if (skb->gso_segs > 1) {
			read_packet(skb, &packet);
			bytes += joined_headers(skb, &packet);
		}
	}
	bpf_spin_lock(&queue->lock);
	bool above = count(queue, &now, now_ps, bytes);
	bpf_spin_unlock(&queue->lock);

	if (!above)
		return TC_ACT_UNSPEC;
	packet.version = packet.tags = packet.ecn = 0;
	read_ecn(skb, &packet);
	if (packet.version == 0 || packet.ecn == 0) {
		__sync_fetch_and_add(&queue->not_capable, 1);
	} else if (packet.ecn == ECN_CE) {
		__sync_fetch_and_add(&queue->already_marked, 1);
	} else {
		bool done = packet.tags ? set_ce_behind_tags(skb, &packet) : bpf_skb_ecn_set_ce(skb);

		if (done)
			__sync_fetch_and_add(&queue->marked, 1);
	}
	return TC_ACT_UNSPEC;
}
