// AXI4-Lite port of a register block, and its guard: refuses what the block must not see.
//
// Source: hull's own; the papers say nothing about the NetFPGA's registers. Limits and units: hull.rdl.
//
// A write is refused when its value is outside the register's limits, when the register can only be read,
// when there is no register at the address, or when a strobe is low. A read is refused when there is no
// register at the address. The answer to a refused access is SLVERR (a read gives 0), the block does not see
// it, and one of the set_ outputs is high for one clock; where two reasons apply, the first of this order
// counts: unknown, read_only, partial, out_of_range. Bits 1 and 0 of an address are ignored.
//
// One access at a time: eight clocks for a write, nine for a read. A waiting read and a waiting write take turns.
module register_guard #(
    // Bits of an address.
    parameter int ADDRESS_BITS = 12
) (
    input logic clk,
    input logic rst,

    // From software.
    input  logic [ADDRESS_BITS-1:0] s_axil_awaddr,
    input  logic [2:0] s_axil_awprot,               // not used
    input  logic s_axil_awvalid,
    output logic s_axil_awready,
    input  logic [31:0] s_axil_wdata,
    input  logic [3:0] s_axil_wstrb,
    input  logic s_axil_wvalid,
    output logic s_axil_wready,
    output logic [1:0] s_axil_bresp,
    output logic s_axil_bvalid,
    input  logic s_axil_bready,
    input  logic [ADDRESS_BITS-1:0] s_axil_araddr,
    input  logic [2:0] s_axil_arprot,               // not used
    input  logic s_axil_arvalid,
    output logic s_axil_arready,
    output logic [31:0] s_axil_rdata,
    output logic [1:0] s_axil_rresp,
    output logic s_axil_rvalid,
    input  logic s_axil_rready,

    // To the block: PeakRDL's bus without a protocol ("passthrough"). The address and the value refer to
    // whole words, and stay until the block is done.
    output logic block_request,        // until it is taken: in the first clock without stall
    output logic block_is_write,
    output logic [ADDRESS_BITS-1:0] block_address,
    output logic [31:0] block_write_data,
    input  logic block_stall,
    input  logic block_write_done,
    input  logic block_read_done,
    input  logic [31:0] block_read_data,

    // Limits of the register at limits_address, two clocks later.
    output logic [ADDRESS_BITS-1:0] limits_address,
    input  logic limits_readable,         // there is a register
    input  logic limits_writable,         // it can be written
    input  logic [31:0] limits_mask,      // bits that it has
    input  logic [31:0] limits_minimum,   // smallest value
    input  logic [31:0] limits_maximum,   // largest value

    // What was refused: one clock for each.
    output logic set_out_of_range,
    output logic set_read_only,
    output logic set_unknown_write,
    output logic set_unknown_read,
    output logic set_partial_write,
    output logic [31:0] refused_address,  // of the last one
    output logic [31:0] refused_value     // of the last one, 0 for a read
);
  localparam logic [1:0] Okay = 2'b00;
  localparam logic [1:0] SlaveError = 2'b10;

  localparam logic [2:0] Idle = 3'd0;
  localparam logic [2:0] Look = 3'd1;     // the limits are looked up
  localparam logic [2:0] Compare = 3'd2;  // the value is compared
  localparam logic [2:0] Decide = 3'd3;
  localparam logic [2:0] Forward = 3'd4;  // the block has the access
  localparam logic [2:0] Respond = 3'd5;
  localparam logic [2:0] Wait = 3'd6;     // the limits are on the way
  logic [2:0] state;

  // What software has handed over. Each of the three channels is taken when it comes.
  logic aw_held, w_held, ar_held;
  logic [ADDRESS_BITS-1:0] aw_address, ar_address;
  logic [31:0] w_data;
  logic [3:0] w_strobes;
  assign s_axil_awready = !aw_held && !rst;
  assign s_axil_wready  = !w_held && !rst;
  assign s_axil_arready = !ar_held && !rst;

  logic write;                        // the access in progress; between two, the last one
  logic [ADDRESS_BITS-1:0] address;
  logic unknown, read_only, partial;
  logic out_of_range;
  logic refused;
  assign refused = unknown || read_only || partial || out_of_range;
  assign limits_address = address;

  // Compared in each clock, from a copy that only this reads; what counts is what Decide finds.
  logic [31:0] compared;
  logic extra_bits, too_small, too_large;
  always_ff @(posedge clk) begin
    compared <= w_data;
    extra_bits <= (compared & ~limits_mask) != 32'd0;
    too_small <= compared < limits_minimum;
    too_large <= compared > limits_maximum;
  end
  assign out_of_range = write && !unknown && !read_only && !partial
      && (extra_bits || too_small || too_large);

  logic [1:0] response;
  logic [31:0] read_data;
  assign s_axil_bvalid = state == Respond && write;
  assign s_axil_rvalid = state == Respond && !write;
  assign s_axil_bresp  = response;
  assign s_axil_rresp  = response;
  assign s_axil_rdata  = read_data;

  assign block_is_write = write;
  assign block_address = address;
  assign block_write_data = w_data;

  always_ff @(posedge clk) begin
    if (s_axil_awvalid && s_axil_awready) begin
      aw_held <= 1'b1;
      aw_address <= s_axil_awaddr;
    end
    if (s_axil_wvalid && s_axil_wready) begin
      w_held <= 1'b1;
      w_data <= s_axil_wdata;
      w_strobes <= s_axil_wstrb;
    end
    if (s_axil_arvalid && s_axil_arready) begin
      ar_held <= 1'b1;
      ar_address <= s_axil_araddr;
    end

    set_out_of_range <= 1'b0;
    set_read_only <= 1'b0;
    set_unknown_write <= 1'b0;
    set_unknown_read <= 1'b0;
    set_partial_write <= 1'b0;
    if (!block_stall) block_request <= 1'b0;

    case (state)
      Idle: begin
        if (aw_held && w_held && !(ar_held && write)) begin
          write <= 1'b1;
          address <= {aw_address[ADDRESS_BITS-1:2], 2'b00};
          state <= Look;
        end else if (ar_held) begin
          write <= 1'b0;
          address <= {ar_address[ADDRESS_BITS-1:2], 2'b00};
          state <= Look;
        end
      end
      Look: state <= Wait;
      Wait: state <= Compare;
      Compare: begin
        unknown <= !limits_readable;
        read_only <= write && limits_readable && !limits_writable;
        partial <= write && limits_writable && w_strobes != 4'b1111;
        state <= Decide;
      end
      Decide: begin
        response  <= SlaveError;
        read_data <= 32'd0;
        if (refused) begin
          set_unknown_write <= unknown && write;
          set_unknown_read <= unknown && !write;
          set_read_only <= read_only;
          set_partial_write <= partial;
          set_out_of_range <= out_of_range;
          refused_address <= 32'(address);
          refused_value <= write ? w_data : 32'd0;
          state <= Respond;
        end else begin
          block_request <= 1'b1;
          state <= Forward;
        end
      end
      Forward: begin
        if (write ? block_write_done : block_read_done) begin
          response  <= Okay;
          read_data <= write ? 32'd0 : block_read_data;
          state <= Respond;
        end
      end
      Respond: begin
        if (write ? s_axil_bready : s_axil_rready) begin
          if (write) begin
            aw_held <= 1'b0;
            w_held  <= 1'b0;
          end else begin
            ar_held <= 1'b0;
          end
          state <= Idle;
        end
      end
      default: state <= Idle;
    endcase

    if (rst) begin
      state <= Idle;
      write <= 1'b0;
      address <= '0;
      response <= Okay;
      read_data <= 32'd0;
      aw_held <= 1'b0;
      w_held <= 1'b0;
      ar_held <= 1'b0;
      unknown <= 1'b0;
      read_only <= 1'b0;
      partial <= 1'b0;
      set_out_of_range <= 1'b0;
      set_read_only <= 1'b0;
      set_unknown_write <= 1'b0;
      set_unknown_read <= 1'b0;
      set_partial_write <= 1'b0;
      refused_address <= 32'd0;
      refused_value <= 32'd0;
      block_request <= 1'b0;
    end
  end

  logic unused;
  assign unused = &{1'b0, s_axil_awprot, s_axil_arprot, aw_address[1:0], ar_address[1:0]};
endmodule
