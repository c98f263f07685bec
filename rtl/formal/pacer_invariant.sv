// What holds inside of the pacer at every clock, for any output of its rate filter: included in pacer.sv for the
// proofs. pacer_induction.sby proves it by induction.
//
// 1. The backlog is never above fifo_bytes.
// 2. What is missing in the bucket is never more than the bucket, or than the largest packet if that is more.
// 3. Over any interval the paced packets take at most that, and the tokens that are made in it.
//
// A release that the backlog does not know of leaves without tokens, and does not count.

// The caller keeps its promises: settings stay, packets have bytes, the head is constant until it leaves.
(* anyconst *) logic [BUCKET_BITS-1:0] f_bucket_bytes;
(* anyconst *) logic [BACKLOG_BITS-1:0] f_fifo_bytes;
logic f_past = 1'b0;
logic f_head_valid = 1'b0, f_left = 1'b0;
logic [BYTES_BITS-1:0] f_head_bytes;
always_ff @(posedge clk) begin
    f_past <= 1'b1;
    f_head_valid <= head_valid;
    f_left <= release_head;
    f_head_bytes <= head_bytes;
end
always_comb begin
    assume (rst == !f_past);
    assume (bucket_bytes == f_bucket_bytes && fifo_bytes == f_fifo_bytes);
    assume (packet_bytes != 0);
    if (f_head_valid && !f_left) assume (head_valid && head_bytes == f_head_bytes);
end

// Tokens that are taken less those that are made, over the interval up to now for which that is most.
logic [TOKEN_BITS-1:0] f_largest, f_bucket, f_paid;
logic signed [TOKEN_BITS+1:0] f_used = '0, f_more;
always_comb begin
    f_bucket = TOKEN_BITS'(f_bucket_bytes) * TOKEN_BITS'(TOKENS_PER_BYTE);
    f_largest = TOKEN_BITS'({BYTES_BITS{1'b1}}) * TOKEN_BITS'(TOKENS_PER_BYTE);
    f_paid = '0;
    if (pass_paid) f_paid = TOKEN_BITS'(bytes[DECISION+1]) * TOKEN_BITS'(TOKENS_PER_BYTE);
    if (take_head && !empty) f_paid = TOKEN_BITS'(head_bytes) * TOKEN_BITS'(TOKENS_PER_BYTE);
    f_more = f_used + $signed({2'd0, f_paid}) - $signed({2'd0, step_tokens});
end
always_ff @(posedge clk) begin
    if (phase) f_used <= f_more < 0 ? '0 : f_more;
    if (!active || rst) f_used <= '0;
end
always @(posedge clk) if (f_past && !rst) begin
    assert (bucket_left <= 5'(BUCKET_BITS));
    assert (!active || bucket_tokens == f_bucket);
    assert (backlog_bytes <= f_fifo_bytes);
    assert (!active || deficit <= f_bucket || deficit <= f_largest);
    assert (f_used >= 0 && f_used <= $signed({2'd0, deficit}));
    cover (f_used == $signed({2'd0, f_largest}) && f_largest < f_bucket);
    cover (f_used > $signed({2'd0, f_bucket}) && release_head && backlog_bytes != 0);
end
