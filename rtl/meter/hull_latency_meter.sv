// The latency meter as one instantiates it: latency_meter.sv with its registers on AXI4-Lite
// (docs/hardware/registers.md). It listens to the two sides of a switch and changes nothing.
//
// Source: paper 5.2. After reset probes are ICMP echo requests over IPv4 without VLAN tag, as the paper's pings.
module hull_latency_meter #(
    parameter int DATA_BITS   = 64,    // 64, 128, 256 or 512
    parameter int CLOCK_PS    = 8000,  // period of clk, for software to read
    parameter int TABLE_BITS  = 5,     // 2^TABLE_BITS probes can be under way
    parameter int BUCKET_BITS = 10     // the histogram has 2^BUCKET_BITS buckets
) (
    input logic clk,
    input logic rst,             // high for two clocks at least
    input logic [63:0] ptp_now,  // time, where the registers ask for it

    // The stream into the switch, listened to.
    input logic [DATA_BITS-1:0] entry_tdata,
    input logic [DATA_BITS/8-1:0] entry_tkeep,
    input logic entry_tvalid,
    input logic entry_tready,
    input logic entry_tlast,
    input logic entry_tuser,

    // The stream out of the switch, listened to.
    input logic [DATA_BITS-1:0] exit_tdata,
    input logic [DATA_BITS/8-1:0] exit_tkeep,
    input logic exit_tvalid,
    input logic exit_tready,
    input logic exit_tlast,
    input logic exit_tuser,

    // Registers.
    input logic [11:0] s_axil_awaddr,
    input logic [2:0] s_axil_awprot,
    input logic s_axil_awvalid,
    output logic s_axil_awready,
    input logic [31:0] s_axil_wdata,
    input logic [3:0] s_axil_wstrb,
    input logic s_axil_wvalid,
    output logic s_axil_wready,
    output logic [1:0] s_axil_bresp,
    output logic s_axil_bvalid,
    input logic s_axil_bready,
    input logic [11:0] s_axil_araddr,
    input logic [2:0] s_axil_arprot,
    input logic s_axil_arvalid,
    output logic s_axil_arready,
    output logic [31:0] s_axil_rdata,
    output logic [1:0] s_axil_rresp,
    output logic s_axil_rvalid,
    input logic s_axil_rready
);
  logic enable, clear, busy, use_ptp;
  logic [3:0][6:0] words;
  logic [63:0] match_value, match_mask, minimum, maximum, sum;
  logic [6:0] sequence_offset;
  logic [4:0] shift;
  logic [15:0] address;
  logic [31:0] data, stamped, matched, unmatched, outstanding, truncated;

  latency_meter #(.DATA_BITS(DATA_BITS), .TABLE_BITS(TABLE_BITS), .BUCKET_BITS(BUCKET_BITS)) meter (
      .clk, .rst, .enable, .clear, .busy, .use_ptp, .ptp_now,
      .match_offset(words), .match_value, .match_mask, .sequence_offset, .shift,
      .entry_tdata, .entry_tkeep, .entry_tvalid, .entry_tready, .entry_tlast, .entry_tuser,
      .exit_tdata, .exit_tkeep, .exit_tvalid, .exit_tready, .exit_tlast, .exit_tuser,
      .address(address[BUCKET_BITS-1:0]), .data, .stamped, .matched, .unmatched, .outstanding, .truncated,
      .minimum, .maximum, .sum
  );

  latency_meter_registers #(.CLOCK_PS(CLOCK_PS), .LAST_BUCKET((1 << BUCKET_BITS) - 1)) registers (
      .clk, .rst,
      .s_axil_awaddr, .s_axil_awprot, .s_axil_awvalid, .s_axil_awready,
      .s_axil_wdata, .s_axil_wstrb, .s_axil_wvalid, .s_axil_wready,
      .s_axil_bresp, .s_axil_bvalid, .s_axil_bready,
      .s_axil_araddr, .s_axil_arprot, .s_axil_arvalid, .s_axil_arready,
      .s_axil_rdata, .s_axil_rresp, .s_axil_rvalid, .s_axil_rready,
      .meter_enable(enable),
      .meter_clear(clear),
      .meter_use_ptp(use_ptp),
      .meter_word_0(words[0]),
      .meter_word_1(words[1]),
      .meter_word_2(words[2]),
      .meter_word_3(words[3]),
      .meter_match_value_low(match_value[31:0]),
      .meter_match_value_high(match_value[63:32]),
      .meter_match_mask_low(match_mask[31:0]),
      .meter_match_mask_high(match_mask[63:32]),
      .meter_sequence_offset(sequence_offset),
      .meter_bucket_shift(shift),
      .meter_histogram_address(address),
      .meter_histogram_data(data),
      .meter_busy(busy),
      .meter_stamped(stamped),
      .meter_matched(matched),
      .meter_unmatched(unmatched),
      .meter_outstanding(outstanding),
      .meter_truncated(truncated),
      .meter_min_latency(minimum),
      .meter_max_latency(maximum),
      .meter_sum_latency(sum)
  );

  logic unused;
  assign unused = &{1'b0, address[15:BUCKET_BITS]};
endmodule
