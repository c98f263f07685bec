// SPDX-License-Identifier: GPL-2.0 OR Apache-2.0
/* Latency meter: measures the time of a packet from one place to another on this machine, as the Latency
 * Measurement Module of paper 5.2 does for its probes. Between a switch port's egress and the far
 * side's ingress this is the time in the port's queue and on its wire.
 *
 * The packet is recognized by its addresses, IP identification and the first 8 bytes after the IP
 * header (TCP's ports and sequence, ICMP's identifier and number). Times go to a histogram whose
 * buckets are 1/32 of an octave wide.
 */
#include "packet.h"

char LICENSE[] SEC("license") = "GPL";

/* TCP source port of the measured packets, network byte order; 0: all packets. */
const volatile __u16 source_port = 0;

#define SUB_BITS 5
#define BUCKETS ((64 - SUB_BITS + 1) << SUB_BITS)

struct identity {
	__u8 addresses[32];
	__u8 transport[8];
	__u16 number;
	__u16 reserved;
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 65536);
	__type(key, struct identity);
	__type(value, __u64);
} entered SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, BUCKETS);
	__type(key, __u32);
	__type(value, __u64);
} histogram SEC(".maps");

static __always_inline bool identify(struct __sk_buff *skb, struct identity *identity)
{
	struct packet packet;
	__u32 transport;

	read_packet(skb, &packet);
	if (!packet.version || (source_port && (!packet.tcp || packet.flow.source_port != source_port)))
		return false;
	__builtin_memset(identity, 0, sizeof(*identity));
	if (packet.version == 4) {
		__u8 first;

		if (bpf_skb_load_bytes(skb, packet.network, &first, 1) ||
		    bpf_skb_load_bytes(skb, packet.network + 12, identity->addresses, 8) ||
		    bpf_skb_load_bytes(skb, packet.network + 4, &identity->number, 2))
			return false;
		transport = packet.network + (first & 0xf) * 4;
	} else {
		if (bpf_skb_load_bytes(skb, packet.network + 8, identity->addresses, 32))
			return false;
		transport = packet.tcp ? packet.transport : packet.network + 40;
	}
	return !bpf_skb_load_bytes(skb, transport, identity->transport, 8);
}

/* Bucket of a time: the position of its highest bit and the following 5 bits. */
static __always_inline __u32 bucket(__u64 ns)
{
	__u32 shift = 0;

	for (int step = 32; step > 0; step >>= 1) {
		if (ns >> (shift + step) >= (1ULL << (SUB_BITS + 1)))
			shift += step;
	}
	if (ns >> shift >= (1ULL << (SUB_BITS + 1)))
		shift++;
	return ns < (1ULL << SUB_BITS) ? ns : (shift << SUB_BITS) + (ns >> shift);
}

SEC("tc")
int meter_enter(struct __sk_buff *skb)
{
	struct identity identity;
	__u64 now_ns = bpf_ktime_get_ns();

	if (identify(skb, &identity))
		bpf_map_update_elem(&entered, &identity, &now_ns, BPF_ANY);
	return TC_ACT_UNSPEC;
}

SEC("tc")
int meter_leave(struct __sk_buff *skb)
{
	struct identity identity;
	__u64 now_ns = bpf_ktime_get_ns();
	__u64 *entered_ns;

	if (!identify(skb, &identity))
		return TC_ACT_UNSPEC;
	entered_ns = bpf_map_lookup_elem(&entered, &identity);
	if (!entered_ns)
		return TC_ACT_UNSPEC;
	__u32 at = bucket(now_ns - *entered_ns);
	__u64 *count = bpf_map_lookup_elem(&histogram, &at);

	if (count)
		(*count)++;
	bpf_map_delete_elem(&entered, &identity);
	return TC_ACT_UNSPEC;
}
