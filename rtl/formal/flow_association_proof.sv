// Proof of nic/flow_association.sv, which includes this at its end under FORMAL: no flow is in the table twice,
// and the count of live flows is right. Every input is free in every clock, the ends of associations as well:
// nothing is assumed but that the first clock is a reset.
//
// The other properties are what induction needs: where a draw on its way stands, and that what it has seen of
// the table still holds.
logic started;
initial started = 1'b0;
always @(posedge clk) started <= 1'b1;
always @(posedge clk) assume (started || rst);

// Entries that were open when the draw in clock 4 or 5 looked.
logic [ENTRIES-1:0] seen_open_3, seen_open_4, seen_open_5, hits_3, hits_4, hits_5, shift_expected;
logic one_flow;
logic [Padded-1:0] from_hits_4, from_free_4;
logic [7:0] counted, on_its_way;
always_comb begin
  seen_open_3 = open | ending_1;
  seen_open_4 = seen_open_3 | ending_2;
  seen_open_5 = seen_open_4 | ending_3;
  one_flow = 1'b1;
  for (int i = 0; i < ENTRIES; i = i + 1) begin
    hits_3[i] = seen_open_3[i] && flows[i] == flow_3;
    hits_4[i] = seen_open_4[i] && flows[i] == flow_4;
    hits_5[i] = seen_open_5[i] && flows[i] == flow_5;
    for (int j = 0; j < i; j = j + 1)
      if (valid[i] && valid[j] && flows[i] == flows[j]) one_flow = 1'b0;
  end
  // Groups of 8, as the module has them.
  from_hits_4 = '0;
  from_free_4 = '0;
  for (int i = 0; i < Padded; i = i + 1)
    for (int j = i - i % 8; j <= i; j = j + 1)
      if (j < ENTRIES) begin
        if (hits_4[j]) from_hits_4[i] = 1'b1;
        if (!seen_open_4[j]) from_free_4[i] = 1'b1;
      end
  shift_expected = '0;
  for (int i = 0; i < ENTRIES; i = i + 1)
    for (int j = 0; j <= i; j = j + 1)
      if (hits_5 != '0 ? hits_5[j] : !seen_open_5[j] || seen_open_5 == '1) shift_expected[i] = 1'b1;
  counted = '0;
  for (int i = 0; i < ENTRIES; i = i + 1) counted = counted + 8'(valid[i]);
  on_its_way = 8'(entered_6) + 8'(entered_7) - 8'(evict_6) - 8'(evict_7) - 8'(ended_7);
  for (int g = 0; g < Groups; g = g + 1) on_its_way = on_its_way - 8'(ended_6[g]);
end

always @(posedge clk) if (started) begin
  // What is to be proved.
  assert (one_flow);
  assert (8'(live) + on_its_way == counted);
  assert (8'(live) <= 8'(ENTRIES));

  // An entry is open, or in one of the four clocks after its end, or invalid.
  assert (valid == (open | ending_1 | ending_2 | ending_3 | ending_4));
  assert ((open & (ending_1 | ending_2 | ending_3 | ending_4)) == '0);
  assert ((ending_1 & (ending_2 | ending_3 | ending_4)) == '0);
  assert ((ending_2 & (ending_3 | ending_4)) == '0);
  assert ((ending_3 & ending_4) == '0);
  // One draw at a time.
  assert (3'(valid_2) + 3'(valid_3) + 3'(valid_4) + 3'(push_5 || ignore_5) <= 3'd1);
  for (int c = 0; c < Copies; c = c + 1) if (valid_2) assert (key_2[c] == (flow_2 ^ inverted[c]));
  // What it has seen.
  if (valid_3) begin
    assert (open_3 == seen_open_3);
    assert ((open_3 & low_3 & high_3) == hits_3);
  end
  if (valid_4) begin
    assert (match_from_4 == from_hits_4);
    assert (full_4 == (seen_open_4 == '1));
    if (!full_4) assert (free_from_4 == from_free_4);
  end
  assert (push_5 || shift_5 == '0);
  if (push_5) begin
    assert (shift_5 == shift_expected);
    assert (refresh_5 == (hits_5 != '0));
    assert (evict_5 == (hits_5 == '0 && seen_open_5 == '1));
  end else assert (!refresh_5 && !evict_5);
end
