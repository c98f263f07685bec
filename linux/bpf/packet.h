/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/* Parser of a frame: Ethernet with up to two VLAN tags in the data, IPv4 with options, IPv6 with
 * extension headers, TCP. Each byte is copied by bpf_skb_load_bytes, which also works on fragmented
 * buffers and fails beyond the end. A truncated frame, a later fragment or a header that contradicts
 * itself is not parsed (`ip` or `tcp` stays false).
 */
#ifndef HULL_PACKET_H
#define HULL_PACKET_H

#include "hull.h"

#define ETHERTYPE_IPV4 0x0800
#define ETHERTYPE_IPV6 0x86dd
#define ETHERTYPE_VLAN 0x8100
#define ETHERTYPE_QINQ 0x88a8

#define PROTOCOL_HOP_BY_HOP 0
#define PROTOCOL_TCP 6
#define PROTOCOL_ROUTING 43
#define PROTOCOL_FRAGMENT 44
#define PROTOCOL_DESTINATION 60

#define MOST_TAGS 2
#define MOST_EXTENSIONS 4

/* The ECN field of RFC 3168 and TCP's flags in byte 13 of its header. */
#define ECN_MASK 3
#define ECN_CE 3
#define TCP_SYN 0x02
#define TCP_ACK 0x10
#define TCP_ECE 0x40

struct packet {
	__u32 network;   /* offset of the IP header */
	__u32 transport; /* offset of the TCP header */
	__u8 version;    /* 4 or 6; 0: not IP */
	__u8 ecn;        /* the ECN field */
	__u8 tags;       /* VLAN tags in the data */
	__u8 flags;      /* TCP's */
	bool tcp;        /* a whole TCP header is there: flow and flags are set */
	struct flow flow;
};

static __always_inline bool read_ports(struct __sk_buff *skb, struct packet *packet)
{
	__u8 header[14];

	if (bpf_skb_load_bytes(skb, packet->transport, header, sizeof(header)))
		return false;
	__builtin_memcpy(&packet->flow.source_port, header, 2);
	__builtin_memcpy(&packet->flow.destination_port, header + 2, 2);
	packet->flags = header[13];
	/* A header has at least five words, and must be completely in the frame. */
	__u32 length = (header[12] >> 4) * 4;
	return length >= 20 && packet->transport + length <= skb->len;
}

static __always_inline void read_ipv4(struct __sk_buff *skb, struct packet *packet)
{
	__u8 header[20];

	if (bpf_skb_load_bytes(skb, packet->network, header, sizeof(header)))
		return;
	__u32 length = (header[0] & 0xf) * 4;
	if (header[0] >> 4 != 4 || length < 20 || packet->network + length > skb->len)
		return;
	packet->version = 4;
	packet->ecn = header[1] & ECN_MASK;
	/* A fragment other than the first has no TCP header. */
	bool first = !((header[6] & 0x1f) | header[7]);
	if (header[9] != PROTOCOL_TCP || !first)
		return;
	__builtin_memcpy(packet->flow.source, header + 12, 4);
	__builtin_memcpy(packet->flow.destination, header + 16, 4);
	packet->transport = packet->network + length;
	packet->tcp = read_ports(skb, packet);
}

static __always_inline void read_ipv6(struct __sk_buff *skb, struct packet *packet)
{
	__u8 header[40];

	if (bpf_skb_load_bytes(skb, packet->network, header, sizeof(header)))
		return;
	if (header[0] >> 4 != 6)
		return;
	packet->version = 6;
	/* Traffic class: the low half of byte 0 and the high half of byte 1; ECN is its last two bits. */
	packet->ecn = (header[1] >> 4) & ECN_MASK;
	__builtin_memcpy(packet->flow.source, header + 8, 16);
	__builtin_memcpy(packet->flow.destination, header + 24, 16);

	__u8 next = header[6];
	__u32 at = packet->network + sizeof(header);
	for (int i = 0; i < MOST_EXTENSIONS && next != PROTOCOL_TCP; i++) {
		__u8 extension[4];

		if (next != PROTOCOL_HOP_BY_HOP && next != PROTOCOL_ROUTING &&
		    next != PROTOCOL_DESTINATION && next != PROTOCOL_FRAGMENT)
			return;
		if (bpf_skb_load_bytes(skb, at, extension, sizeof(extension)))
			return;
		if (next == PROTOCOL_FRAGMENT) {
			if (extension[2] | (extension[3] & 0xf8))
				return; /* not the first fragment */
			at += 8;
		} else {
			at += (extension[1] + 1) * 8;
		}
		next = extension[0];
	}
	if (next != PROTOCOL_TCP)
		return;
	packet->transport = at;
	packet->tcp = read_ports(skb, packet);
}

static __always_inline void read_packet(struct __sk_buff *skb, struct packet *packet)
{
	__be16 type;
	__u32 at = 12;

	__builtin_memset(packet, 0, sizeof(*packet));
	if (bpf_skb_load_bytes(skb, at, &type, sizeof(type)))
		return;
	for (int i = 0; i < MOST_TAGS; i++) {
		if (type != bpf_htons(ETHERTYPE_VLAN) && type != bpf_htons(ETHERTYPE_QINQ))
			break;
		at += 4;
		packet->tags++;
		if (bpf_skb_load_bytes(skb, at, &type, sizeof(type)))
			return;
	}
	packet->network = at + 2;
	if (type == bpf_htons(ETHERTYPE_IPV4))
		read_ipv4(skb, packet);
	else if (type == bpf_htons(ETHERTYPE_IPV6))
		read_ipv6(skb, packet);
}

/* Reads IP version and ECN field only. Without VLAN tags in the data, the first two bytes after
 * Ethernet's 14 suffice. */
static __always_inline void read_ecn(struct __sk_buff *skb, struct packet *packet)
{
	__u8 first[2];

	if (skb->protocol != bpf_htons(ETHERTYPE_IPV4) && skb->protocol != bpf_htons(ETHERTYPE_IPV6)) {
		read_packet(skb, packet);
		return;
	}
	packet->network = 14;
	if (bpf_skb_load_bytes(skb, 14, first, sizeof(first)))
		return;
	__u32 length = skb->len - 14;

	if (skb->protocol == bpf_htons(ETHERTYPE_IPV4)) {
		__u32 header = (first[0] & 0xf) * 4;

		if (first[0] >> 4 == 4 && header >= 20 && header <= length) {
			packet->version = 4;
			packet->ecn = first[1] & ECN_MASK;
		}
	} else if (first[0] >> 4 == 6 && length >= 40) {
		packet->version = 6;
		packet->ecn = (first[1] >> 4) & ECN_MASK;
	}
}

/* Bytes on the wire as counted by the kernel, or as set by a test in cb[0]. Each is read separately,
 * because the verifier requires a constant offset into the context. */
static __always_inline __u32 counted_bytes(struct __sk_buff *skb, bool injected)
{
	__u32 told = skb->cb[0];

	asm volatile("" : "+r"(told));
	__u32 wire = skb->wire_len;

	asm volatile("" : "+r"(wire));
	return injected ? told : wire;
}

/* Bytes of the headers of the segments that GRO has joined to one packet, without the first. */
static __always_inline __u32 joined_headers(struct __sk_buff *skb, struct packet *packet)
{
	__u8 offset;

	if (!packet->tcp || bpf_skb_load_bytes(skb, packet->transport + 12, &offset, 1))
		return 0;
	return (skb->gso_segs - 1) * (packet->transport + (offset >> 4) * 4);
}

#endif
