// What holds inside of the ECN marker at every clock: included in ecn_marker.sv for the proofs.
// ecn_marker_order.sby proves it by induction.
//
// The beats inside, from the output to the input, are those that came and have not left, in their order, each
// once, with their tlast, tuser and tkeep, under any back-pressure. An offered beat stays until it is taken.

localparam int F_PLACES = WINDOW + 5;
localparam int F_BITS = BYTES + 2;
logic f_past = 1'b0;
always_ff @(posedge clk) f_past <= 1'b1;
always_comb assume (rst == !f_past);

// The places of the module, the oldest first.
logic [F_PLACES-1:0] f_valid;
logic [F_PLACES-1:0][F_BITS-1:0] f_beat;
always_comb begin
    f_valid = {a_valid, b_valid, {WINDOW{1'b0}}, p_valid, x_valid, m_tvalid};
    f_beat[0] = {m_tlast, m_tuser, m_tkeep};
    f_beat[1] = {x_last, x_user, x_keep};
    f_beat[2] = {p_last, p_user, p_keep};
    for (int i = 0; i < WINDOW; i++) begin
        f_valid[3+i] = w_valid[WINDOW-1-i];
        f_beat[3+i] = {w_last[WINDOW-1-i], w_user[WINDOW-1-i], w_keep[WINDOW-1-i]};
    end
    f_beat[WINDOW+3] = {b_last, b_user, b_keep};
    f_beat[WINDOW+4] = {a_last, a_user, a_keep};
end

// What came and has not left, the oldest first.
logic [F_PLACES-1:0][F_BITS-1:0] f_came, f_waiting;
logic [4:0] f_count = '0, f_left;
always_comb begin
    f_waiting = f_came;
    f_left = f_count;
    if (m_tvalid && m_tready) begin
        f_waiting = f_came >> F_BITS;
        f_left = f_count - 1'b1;
    end
end
always_ff @(posedge clk) begin
    f_came <= f_waiting;
    f_count <= f_left;
    if (s_tvalid && s_tready) begin
        for (int i = 0; i < F_PLACES; i++) if (f_left == 5'(i)) f_came[i] <= {s_tlast, s_tuser, s_tkeep};
        f_count <= f_left + 1'b1;
    end
    if (rst) f_count <= '0;
end

logic [F_PLACES:0][4:0] f_before;  // beats inside that are older than a place
always_comb begin
    f_before[0] = '0;
    for (int i = 0; i < F_PLACES; i++) f_before[i+1] = f_before[i] + 5'(f_valid[i]);
end
always_comb if (f_past) begin
    assert (f_count == f_before[F_PLACES]);
    for (int i = 0; i <= WINDOW; i++) assert (full[i] == &({w_valid, b_valid} | (WINDOW + 1)'((1 << i) - 1)));
    for (int i = 0; i < F_PLACES; i++)
        for (int j = 0; j <= i; j++)
            if (f_valid[i] && f_before[i] == 5'(j)) assert (f_beat[i] == f_came[j]);
end

logic f_held = 1'b0;
logic [DATA_BITS-1:0] f_data;
always_ff @(posedge clk) begin
    f_held <= m_tvalid && !m_tready && !rst;
    f_data <= m_tdata;
    if (f_held) assert (m_tvalid && m_tdata == f_data);
    cover (f_count == 5'(F_PLACES) && m_tready && s_tvalid);
end
