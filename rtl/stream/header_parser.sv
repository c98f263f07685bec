// Header parser: watches the accepted beats of an AXI4-Stream of Ethernet frames and reports the IP and TCP header
// fields of each frame. It neither stalls nor changes the stream.
//
// What it models: the part of the NetFPGA's header parser that HULL needs (paper 5.1: ECN, ACKs with ECN-Echo,
// flows). It parses 0 to 2 VLAN tags (0x8100, 0x88a8), IPv4 with options, IPv6, TCP and the ports of UDP. It stops
// at an IPv6 extension header: such a packet is not TCP. The IPv4 header checksum is not verified.
//
// Flow key: CRC-32 (IEEE 802.3; zlib.crc32) of 13 bytes in network order: source address, destination
// address, source port, destination port, protocol. An IPv6 address is first folded to 4 bytes: the XOR of its
// four words, rotated left by 24, 16, 8 and 0 bits. Ports are 0 if absent. Users of the key cannot
// distinguish two flows with the same key. Its probability is 2^-32 for two unrelated flows, and 0 for two flows
// that differ only in their ports.
//
// Units: bytes. The frame is divided into words of 4 bytes so that IP headers are aligned: word i holds the bytes
// 4i-2 to 4i+1, and an IP header starts at word 4, 5 or 6. The answer comes ten clocks after the clock in
// which the beat that decides is accepted: with the last header byte of interest, or the frame's last beat.
module header_parser #(
    // Width of the stream: 64, 128, 256 or 512.
    parameter int DATA_BITS = 64
) (
    input logic clk,
    input logic rst,

    // The stream that is watched.
    input logic [DATA_BITS-1:0] s_tdata,
    input logic [DATA_BITS/8-1:0] s_tkeep,
    input logic s_tvalid,
    input logic s_tready,
    input logic s_tlast,

    // Once a frame; the other ports hold their values until the next pulse.
    output logic header_valid,
    output logic ok,            // IP, and its headers are complete and consistent
    output logic truncated,     // the frame ends within its headers
    output logic [3:0] ip_version,  // 4 or 6; 0: not IP. Valid without ok as well
    output logic [4:0] ip_offset,   // of the IP header in the frame: 14, 18 or 22
    // The others are 0 without ok.
    output logic [1:0] ecn,     // 0: not ECN-capable, 1: ECT(1), 2: ECT(0), 3: CE
    output logic is_tcp,        // TCP, and not a later fragment
    output logic tcp_cwr,       // flags of TCP
    output logic tcp_ece,
    output logic tcp_ack,
    output logic tcp_rst,
    output logic tcp_syn,
    output logic tcp_fin,
    output logic [31:0] flow,         // key of the packet's flow
    output logic [31:0] flow_reverse  // key of the opposite direction
);
  localparam int Bytes = DATA_BITS / 8;
  localparam int Lanes = Bytes / 4;
  localparam int LaneBits = $clog2(Lanes);
  // Words are counted to 31; the last one that matters is 24.
  localparam int BeatBits = 5 - LaneBits;

  // The CRC is linear in the 104 bits of its message, in order of transmission: bit i of the CRC is a constant
  // plus the parity of the message bits under mask i, which starts at 104 * i.
  function automatic [31:0] crc_step(input [31:0] state);
    crc_step = {1'b0, state[31:1]} ^ (state[0] ? 32'hedb88320 : 32'd0);
  endfunction
  function automatic [32*104-1:0] crc_masks(input [31:0] last);
    logic [31:0] column;
    column = last;
    for (int bit_of = 103; bit_of >= 0; bit_of = bit_of - 1) begin
      for (int i = 0; i < 32; i = i + 1) crc_masks[104*i+bit_of] = column[i];
      column = crc_step(column);
    end
  endfunction
  function automatic [31:0] crc_of_zeros(input [31:0] start);
    crc_of_zeros = start;
    for (int i = 0; i < 104; i = i + 1) crc_of_zeros = crc_step(crc_of_zeros);
  endfunction
  localparam logic [32*104-1:0] Masks = crc_masks(32'hedb88320);
  localparam logic [31:0] Constant = ~crc_of_zeros('1);
  // Byte 0, the first on the wire, is the least significant: a left rotation in network order is a right one here.
  function automatic [31:0] fold(input [3:0][31:0] address);
    fold = {address[0][23:0], address[0][31:24]} ^ {address[1][15:0], address[1][31:16]} ^
        {address[2][7:0], address[2][31:8]} ^ address[3];
  endfunction
  function automatic is_tag(input [15:0] kind);
    is_tag = kind == 16'h0081 || kind == 16'ha888;
  endfunction

  // Clock 1: the beat, as words. Byte 0 of a word is its least significant.
  logic valid_1, first_1, last_1;
  logic [BeatBits-1:0] beat_1;          // stops at all ones
  logic [Lanes-1:0][31:0] words_1;
  logic [Lanes-1:0] present_1;          // the word is complete
  logic [15:0] carried;                 // the last two bytes of the beat before
  logic next_first;
  logic [BeatBits-1:0] next_beat;
  always_ff @(posedge clk) begin
    valid_1 <= s_tvalid && s_tready;
    if (s_tvalid && s_tready) begin
      words_1[0] <= {s_tdata[15:0], carried};
      for (int i = 1; i < Lanes; i = i + 1) words_1[i] <= s_tdata[32*i-16+:32];
      for (int i = 0; i < Lanes; i = i + 1) present_1[i] <= s_tkeep[4*i+1];
      carried <= s_tdata[DATA_BITS-1-:16];
      first_1 <= next_first;
      last_1 <= s_tlast;
      beat_1 <= next_beat;
      next_first <= s_tlast;
      next_beat <= s_tlast ? '0 : (next_beat == '1) ? next_beat : next_beat + BeatBits'(1);
    end
    if (rst) begin
      valid_1 <= 1'b0;
      next_first <= 1'b1;
      next_beat <= '0;
    end
  end

  // Clock 2: the EtherTypes after the addresses and after each tag, stored when their beat arrives.
  localparam int Lane3 = 3 % Lanes, Beat3 = 3 / Lanes;
  localparam int Lane4 = 4 % Lanes, Beat4 = 4 / Lanes;
  localparam int Lane5 = 5 % Lanes, Beat5 = 5 / Lanes;
  logic valid_2, first_2, last_2;
  logic [BeatBits-1:0] beat_2;
  logic [Lanes-1:0][31:0] words_2;
  logic [Lanes-1:0] present_2;
  // EtherTypes at words 3, 4 and 5: seen, a tag, IPv4, IPv6.
  logic [2:0] seen_2, four_2, six_2;
  logic [1:0] tag_2;
  logic [2:0][15:0] kind_1;
  logic [2:0] at_1, here_1;
  assign kind_1[0] = words_1[Lane3][31:16];
  assign kind_1[1] = words_1[Lane4][31:16];
  assign kind_1[2] = words_1[Lane5][31:16];
  assign at_1 = {
    beat_1 == BeatBits'(Beat5), beat_1 == BeatBits'(Beat4), beat_1 == BeatBits'(Beat3)
  };
  assign here_1 = {present_1[Lane5], present_1[Lane4], present_1[Lane3]};
  always_ff @(posedge clk) begin
    valid_2 <= valid_1;
    first_2 <= first_1;
    last_2 <= last_1;
    beat_2 <= beat_1;
    words_2 <= words_1;
    present_2 <= present_1;
    for (int i = 0; i < 3; i = i + 1) begin
      if (valid_1 && at_1[i]) begin
        seen_2[i] <= here_1[i];
        if (i < 2) tag_2[i] <= is_tag(kind_1[i]);
        four_2[i] <= kind_1[i] == 16'h0008;
        six_2[i] <= kind_1[i] == 16'hdd86;
      end else if (valid_1 && first_1) seen_2[i] <= 1'b0;
    end
    if (rst) valid_2 <= 1'b0;
  end

  // Clock 3: the EtherType after the tags.
  logic [1:0] tags_2;
  logic known_2, is_four_2, is_six_2;
  always_comb begin
    if (!tag_2[0] || !seen_2[0]) tags_2 = 2'd0;
    else if (!tag_2[1] || !seen_2[1]) tags_2 = 2'd1;
    else tags_2 = 2'd2;
    known_2   = (seen_2 & (3'b001 << tags_2)) != '0;
    is_four_2 = known_2 && (four_2 & (3'b001 << tags_2)) != '0;
    is_six_2  = known_2 && (six_2 & (3'b001 << tags_2)) != '0;
  end

  logic valid_3, first_3, last_3;
  logic [BeatBits-1:0] beat_3;
  logic [Lanes-1:0][31:0] words_3;
  logic [Lanes-1:0] present_3;
  logic [1:0] tags_3;
  logic known_3, is_four_3, is_six_3;
  always_ff @(posedge clk) begin
    valid_3 <= valid_2;
    first_3 <= first_2;
    last_3 <= last_2;
    beat_3 <= beat_2;
    words_3 <= words_2;
    present_3 <= present_2;
    tags_3 <= tags_2;
    known_3 <= known_2;
    is_four_3 <= is_four_2;
    is_six_3 <= is_six_2;
    if (rst) valid_3 <= 1'b0;
  end

  // Clock 4: the words of the IP header.
  logic valid_4, first_4, last_4;
  logic [BeatBits-1:0] beat_4;
  logic [Lanes-1:0][31:0] words_4;
  logic [Lanes-1:0] present_4;
  logic [1:0] tags_4;
  logic known_4, is_four_4, is_six_4;
  logic [9:0][31:0] ip_4;
  always_ff @(posedge clk) begin
    valid_4 <= valid_3;
    first_4 <= first_3;
    last_4 <= last_3;
    beat_4 <= beat_3;
    words_4 <= words_3;
    present_4 <= present_3;
    tags_4 <= tags_3;
    known_4 <= known_3;
    is_four_4 <= is_four_3;
    is_six_4 <= is_six_3;
    for (int tags = 0; tags < 3; tags = tags + 1)
      for (int i = 0; i < 10; i = i + 1)
        if (valid_3 && tags_3 == 2'(tags) && beat_3 == BeatBits'((4 + i + tags) / Lanes))
          ip_4[i] <= words_3[(4+i+tags)%Lanes];
    if (rst) valid_4 <= 1'b0;
  end

  // Clock 5: the fields of the IP header.
  logic [7:0] protocol_4;
  assign protocol_4 = is_six_4 ? ip_4[1][23:16] : ip_4[2][15:8];

  logic valid_5, first_5, last_5;
  logic [BeatBits-1:0] beat_5;
  logic [Lanes-1:0][31:0] words_5;
  logic [Lanes-1:0] present_5;
  logic [1:0] tags_5;
  logic known_5, is_four_5, is_six_5, later_fragment_5, tcp_protocol_5, udp_protocol_5;
  logic [7:0] protocol_5;
  logic [3:0] length_5;   // of the IP header, 32-bit words; 0 if absent
  logic [31:0] ip_first_5, ip_second_5, source_5, destination_5;
  always_ff @(posedge clk) begin
    valid_5 <= valid_4;
    first_5 <= first_4;
    last_5 <= last_4;
    beat_5 <= beat_4;
    words_5 <= words_4;
    present_5 <= present_4;
    tags_5 <= tags_4;
    known_5 <= known_4;
    is_four_5 <= is_four_4;
    is_six_5 <= is_six_4;
    later_fragment_5 <= is_four_4 && {ip_4[1][20:16], ip_4[1][31:24]} != '0;
    protocol_5 <= protocol_4;
    tcp_protocol_5 <= (is_four_4 || is_six_4) && protocol_4 == 8'd6;
    udp_protocol_5 <= (is_four_4 || is_six_4) && protocol_4 == 8'd17;
    if (is_six_4) length_5 <= 4'd10;
    else if (!is_four_4) length_5 <= 4'd0;
    else length_5 <= (ip_4[0][3:0] < 4'd5) ? 4'd5 : ip_4[0][3:0];
    ip_first_5 <= ip_4[0];
    ip_second_5 <= ip_4[1];
    source_5 <= is_six_4 ? fold(ip_4[5:2]) : ip_4[3];
    destination_5 <= is_six_4 ? fold(ip_4[9:6]) : ip_4[4];
    if (rst) valid_5 <= 1'b0;
  end

  // Clock 6: where the transport header is, and which word is the last one of interest.
  logic tcp_5, udp_5;
  logic [4:0] ip_word_5, after_5;   // after_5: needed beyond the IP header, counted from its first word
  assign tcp_5 = tcp_protocol_5 && !later_fragment_5;
  assign udp_5 = udp_protocol_5 && !later_fragment_5;
  assign ip_word_5 = 5'd4 + {3'd0, tags_5};
  assign after_5 = tcp_5 ? 5'd7 + {3'd0, tags_5} : udp_5 ? ip_word_5 : 5'd3 + {3'd0, tags_5};

  logic valid_6, first_6, last_6;
  logic [BeatBits-1:0] beat_6;
  logic [Lanes-1:0][31:0] words_6;
  logic [Lanes-1:0] present_6;
  logic [1:0] tags_6;
  logic known_6, is_four_6, is_six_6, tcp_6, udp_6;
  logic [7:0] protocol_6;
  logic [3:0] length_6;
  logic [31:0] ip_first_6, ip_second_6, source_6, destination_6;
  logic [4:0] ports_word_6, flags_word_6, needed_6;
  always_ff @(posedge clk) begin
    valid_6 <= valid_5;
    first_6 <= first_5;
    last_6 <= last_5;
    beat_6 <= beat_5;
    words_6 <= words_5;
    present_6 <= present_5;
    tags_6 <= tags_5;
    known_6 <= known_5;
    is_four_6 <= is_four_5;
    is_six_6 <= is_six_5;
    tcp_6 <= tcp_5;
    udp_6 <= udp_5;
    protocol_6 <= protocol_5;
    length_6 <= length_5;
    ip_first_6 <= ip_first_5;
    ip_second_6 <= ip_second_5;
    source_6 <= source_5;
    destination_6 <= destination_5;
    ports_word_6 <= ip_word_5 + {1'b0, length_5};
    flags_word_6 <= 5'd7 + {3'd0, tags_5} + {1'b0, length_5};
    needed_6 <= after_5 + {1'b0, length_5};
    if (rst) valid_6 <= 1'b0;
  end

  // Clock 7: the transport header. The beat that holds the last word needed decides, or the last beat of
  // the frame.
  logic reached_6, complete_6, decided_6, sent;
  assign reached_6 = beat_6 > needed_6[4:LaneBits] ||
      (beat_6 == needed_6[4:LaneBits] && present_6[needed_6[LaneBits-1:0]]);
  assign complete_6 = reached_6 && known_6;
  assign decided_6 = valid_6 && (complete_6 || last_6) && (first_6 || !sent);

  logic decided_7, complete_7, is_four_7, is_six_7, tcp_7, ports_7;
  logic [1:0] tags_7;
  logic [15:0] stated_7, least_7;   // length stated in the header, and the least valid one
  logic [7:0] protocol_7;
  logic [15:0] ip_first_7;
  logic [31:0] source_7, destination_7;
  logic [31:0] ports_word_7, flags_word_7;
  always_ff @(posedge clk) begin
    if (valid_6) begin
      sent <= decided_6 || (sent && !first_6);
      if (beat_6 == ports_word_6[4:LaneBits]) ports_word_7 <= words_6[ports_word_6[LaneBits-1:0]];
      if (beat_6 == flags_word_6[4:LaneBits]) flags_word_7 <= words_6[flags_word_6[LaneBits-1:0]];
    end
    decided_7 <= decided_6;
    complete_7 <= complete_6;
    tags_7 <= tags_6;
    is_four_7 <= known_6 && is_four_6;
    is_six_7 <= known_6 && is_six_6;
    tcp_7 <= tcp_6;
    ports_7 <= tcp_6 || udp_6;
    protocol_7 <= protocol_6;
    // Total length in IPv4, length of the payload in IPv6.
    stated_7 <= is_six_6 ? {ip_second_6[7:0], ip_second_6[15:8]} : {ip_first_6[23:16], ip_first_6[31:24]};
    least_7 <= (tcp_6 ? 16'd20 : udp_6 ? 16'd8 : 16'd0) + (is_six_6 ? 16'd0 : {10'd0, length_6, 2'b00});
    ip_first_7 <= ip_first_6[15:0];
    source_7 <= source_6;
    destination_7 <= destination_6;
    if (rst) decided_7 <= 1'b0;
  end

  // Clock 8: are the headers consistent?
  // IPv4: total length; IPv6: payload length. It must cover the headers that are parsed.
  logic consistent_7;
  assign consistent_7 = ip_first_7[7:4] == (is_six_7 ? 4'd6 : 4'd4) &&
      (is_six_7 || ip_first_7[3:0] >= 4'd5) && stated_7 >= least_7 &&
      !(tcp_7 && flags_word_7[7:4] < 4'd5);

  logic decided_8, ok_8, complete_8, is_four_8, is_six_8, tcp_8;
  logic [1:0] tags_8, ecn_8;
  logic [5:0] flags_8;
  logic [7:0] protocol_8;
  logic [31:0] source_8, destination_8, ports_8;
  always_ff @(posedge clk) begin
    decided_8 <= decided_7;
    complete_8 <= complete_7;
    ok_8 <= complete_7 && (is_four_7 || is_six_7) && consistent_7;
    is_four_8 <= is_four_7;
    is_six_8 <= is_six_7;
    tcp_8 <= tcp_7;
    tags_8 <= tags_7;
    ecn_8 <= is_six_7 ? ip_first_7[13:12] : ip_first_7[9:8];
    // CWR, ECE, ACK, RST, SYN, FIN.
    flags_8 <= {flags_word_7[15:14], flags_word_7[12], flags_word_7[10:8]};
    protocol_8 <= protocol_7;
    source_8 <= source_7;
    destination_8 <= destination_7;
    ports_8 <= ports_7 ? ports_word_7 : 32'd0;
    if (rst) decided_8 <= 1'b0;
  end

  // Clock 9: parts of both keys (one for each direction): source, destination, ports, protocol.
  logic decided_9, ok_9, complete_9, is_four_9, is_six_9, tcp_9;
  logic [1:0] tags_9, ecn_9;
  logic [5:0] flags_9;
  logic [31:0] reversed_8;
  logic [2:0][31:0] part_9, reverse_part_9;
  logic [31:0] protocol_part_9;
  assign reversed_8 = {ports_8[15:0], ports_8[31:16]};
  always_ff @(posedge clk) begin
    decided_9 <= decided_8;
    ok_9 <= ok_8;
    complete_9 <= complete_8;
    is_four_9 <= is_four_8;
    is_six_9 <= is_six_8;
    tcp_9 <= ok_8 && tcp_8;
    tags_9 <= tags_8;
    ecn_9 <= ecn_8;
    flags_9 <= flags_8;
    for (int i = 0; i < 32; i = i + 1) begin
      part_9[0][i] <= ^(source_8 & Masks[104*i+:32]);
      part_9[1][i] <= ^(destination_8 & Masks[104*i+32+:32]);
      part_9[2][i] <= ^(ports_8 & Masks[104*i+64+:32]);
      reverse_part_9[0][i] <= ^(destination_8 & Masks[104*i+:32]);
      reverse_part_9[1][i] <= ^(source_8 & Masks[104*i+32+:32]);
      reverse_part_9[2][i] <= ^(reversed_8 & Masks[104*i+64+:32]);
      protocol_part_9[i] <= ^(protocol_8 & Masks[104*i+96+:8]) ^ Constant[i];
    end
    if (rst) decided_9 <= 1'b0;
  end

  // Clock 10: the answer.
  always_ff @(posedge clk) begin
    header_valid <= decided_9;
    if (decided_9) begin
      ok <= ok_9;
      truncated <= !complete_9;
      ip_version <= is_four_9 ? 4'd4 : is_six_9 ? 4'd6 : 4'd0;
      ip_offset <= 5'd14 + {1'b0, tags_9, 2'b00};
      ecn <= ok_9 ? ecn_9 : '0;
      is_tcp <= tcp_9;
      {tcp_cwr, tcp_ece, tcp_ack, tcp_rst, tcp_syn, tcp_fin} <= tcp_9 ? flags_9 : '0;
      flow <= ok_9 ? part_9[0] ^ part_9[1] ^ part_9[2] ^ protocol_part_9 : '0;
      flow_reverse <= ok_9 ?
          reverse_part_9[0] ^ reverse_part_9[1] ^ reverse_part_9[2] ^ protocol_part_9 : '0;
    end
    if (rst) header_valid <= 1'b0;
  end

  logic unused;
  assign unused = &{1'b0, ip_first_7[15:14], ip_first_7[11:10], ip_second_6[31:16],
      flags_word_7[31:16], flags_word_7[13], flags_word_7[11], flags_word_7[3:0]};
endmodule
