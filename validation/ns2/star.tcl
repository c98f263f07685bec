# The network of the EPFL report in ns-2 2.35: a client and servers at one switch, with Full TCP.
#
#   ns star.tcl KEY=VALUE ...
#
# "requests" names a list with one line per request: start in s, kind, server from 0, bytes of the
# request, bytes of the response, service time in s. Each kind has a connection to each server, which
# its first request opens. A server serves the requests of a kind in order, one at a time. "flows"
# counts servers that send without end, for the static flows.
#
# Three options give ns-2 a rule of hull (droptail_rules.py). With "ack_first" an answer waits for
# "delayed_ack", so that the ACK of its request leaves before it as a packet of its own. Fast
# retransmit does not restart the retransmission timer of the kinds in "keep_timer". "host_rate" is
# the rate of the hosts' links as a multiple of "rate".
#
# Writes, beside "out": .done (row of the list, s sent, s received), .queue (ns-2's queue monitor on
# the client's port), .rto (one line per second: the senders' retransmission timeouts in s, backoff
# included) and .counts (name and value).

array set opt {
    requests ""  flows 0  kinds ""  servers 9  end 10  out star
    rate 1e9  delay 5e-6  buffer 500  nic_buffer 1000
    agent Agent/TCP/FullTcp  segment 950  window 1256  initial_window 2
    min_rto 0.01  min_rto_growth 0  initial_rto 0.01  tick 1e-6  restart 1
    segments_per_ack 1  delayed_ack 6e-6  ecn 0  mark_bytes 0  sample 0.01
    ack_first 0  keep_timer ""  host_rate 1
}
foreach argument $argv {
    if {![regexp {^([a-z_]+)=(.*)$} $argument -> key value] || ![info exists opt($key)]} {
        puts stderr "star.tcl: \"$argument\" is invalid; expected KEY=VALUE with one of the keys\
            [lsort [array names opt]]"
        exit 2
    }
    set opt($key) $value
}

Agent/TCP set window_ $opt(window)
Agent/TCP set windowInit_ $opt(initial_window)
Agent/TCP set minrto_ $opt(min_rto)
Agent/TCP set rtxcur_init_ $opt(initial_rto)
Agent/TCP set tcpTick_ $opt(tick)
Agent/TCP set slow_start_restart_ $opt(restart)
Agent/TCP set ecn_ $opt(ecn)
Agent/TCP/FullTcp set segsize_ $opt(segment)
Agent/TCP/FullTcp set segsperack_ $opt(segments_per_ack)
# Full TCP counts bytes: an ACK of less than a full segment waits for this timer.
Agent/TCP/FullTcp set interval_ $opt(delayed_ack)
Agent/TCP/FullTcp set nodelay_ true

# A step at the threshold: RED of the queue itself (weight 1), whose probability exceeds 1 just
# above the lower threshold and whose upper threshold, above which it would drop, is out of reach.
Queue/RED set bytes_ false
Queue/RED set queue_in_bytes_ true
Queue/RED set mean_pktsize_ 1000
Queue/RED set q_weight_ 1
Queue/RED set gentle_ false
Queue/RED set setbit_ true
Queue/RED set use_mark_p_ false
Queue/RED set linterm_ 1e-6
Queue/RED set thresh_ [expr {$opt(mark_bytes) / 1000.0}]
Queue/RED set maxthresh_ 100000

set ns [new Simulator]
set switch [$ns node]
set client [$ns node]
set port_type [expr {$opt(mark_bytes) > 0 ? "RED" : "DropTail"}]

# Connects a host to the switch.
proc wire {host} {
    global ns switch opt port_type
    $ns simplex-link $switch $host $opt(rate) $opt(delay) $port_type
    $ns queue-limit $switch $host $opt(buffer)
    $ns simplex-link $host $switch [expr {$opt(host_rate) * $opt(rate)}] $opt(delay) DropTail
    $ns queue-limit $host $switch $opt(nic_buffer)
}
wire $client
for {set i 0} {$i < $opt(servers)} {incr i} {
    set server($i) [$ns node]
    wire $server($i)
}

# Opens the connection of a kind between the client and a server.
proc join_hosts {kind i} {
    global ns opt client server asker answerer sender
    set near [new $opt(agent)]
    set far [new $opt(agent)]
    $ns attach-agent $client $near
    $ns attach-agent $server($i) $far
    $ns connect $near $far
    set sender($kind,$i) $far
    if {$kind in [split $opt(keep_timer) ,]} { keep_timer $far }
    if {$kind == "static"} {
        $near listen
    } else {
        $far listen
        set asker($kind,$i) [new Application/TcpApp $near]
        set answerer($kind,$i) [new Application/TcpApp $far]
        $asker($kind,$i) connect $answerer($kind,$i)
    }
}

set done [open $opt(out).done w]
set rtos [open $opt(out).rto w]
set queue [open $opt(out).queue w]
set rows 0

# Asks everything that is due, and comes back for the next request.
proc ask_due {} {
    global ns list pending
    while {[llength $pending] > 0} {
        # ns-2 adds delays to its clock, which may pass the time of an event by a rounding error.
        if {[lindex $pending 0] > [$ns now] + 1e-12} {
            $ns at [lindex $pending 0] ask_due
            return
        }
        ask
        gets $list pending
    }
}

proc ask {} {
    global ns pending rows asker
    foreach {start kind i request response service} $pending break
    $asker($kind,$i) send $request "arrive $kind $i $response $service $rows [$ns now]"
    incr rows
}

proc arrive {kind i response service row sent} {
    global ns busy opt
    set begin [$ns now]
    if {[info exists busy($kind,$i)] && $busy($kind,$i) > $begin} { set begin $busy($kind,$i) }
    set busy($kind,$i) [expr {$begin + $service + $opt(ack_first) * $opt(delayed_ack)}]
    $ns at $busy($kind,$i) "respond $kind $i $response $row $sent"
}

proc respond {kind i response row sent} {
    global answerer
    $answerer($kind,$i) send $response "receive $row $sent"
}

proc receive {row sent} {
    global ns done
    puts $done "$row $sent [$ns now]"
}

# Calls "changed" at each change of a sender's variables, through a channel that ns-2 takes for a file.
proc keep_timer {agent} {
    global due
    set due($agent) ""
    set channel [chan create write [list traced $agent]]
    fconfigure $channel -buffering none
    $agent attach $channel
    foreach name {ack_ maxseq_ nrexmit_ dupacks_} { $agent trace $name }
}

proc traced {agent method channel args} {
    if {$method == "initialize"} { return {initialize finalize watch write} }
    if {$method == "write"} {
        changed $agent [lindex [lindex $args 0] 5]
        return [string length [lindex $args 0]]
    }
}

# Follows when the timer is due ("" while nothing is outstanding). Before the third duplicate ACK,
# for which ns-2 restarts the timer, the bounds of the timeout are set to what is left of it.
proc changed {agent name} {
    global ns due
    set now [$ns now]
    if {$name == "ack_"} {
        set all [expr {[$agent set ack_] == [$agent set maxseq_]}]
        set due($agent) [expr {$all ? "" : $now + [rto $agent]}]
    } elseif {$name == "nrexmit_"} {
        set due($agent) [expr {$now + 2 * [rto $agent]}]
    } elseif {$name == "maxseq_"} {
        if {$due($agent) == ""} { set due($agent) [expr {$now + [rto $agent]}] }
    } elseif {[$agent set dupacks_] == 3 && $due($agent) != ""} {
        set left [expr {max($due($agent) - $now, 0)}]
        foreach bound {minrto_ maxrto_} {
            $ns at $now "$agent set $bound [$agent set $bound]"
            $agent set $bound $left
        }
    }
}

# A sender's timeout as ns-2 computes it (tcp.cc, rtt_timeout): srtt has 3 fractional bits, rttvar 2.
proc rto {agent} {
    global opt
    set rto [expr {(([$agent set srtt_] >> 3) + [$agent set rttvar_]) * $opt(tick)}]
    return [expr {max($rto, [$agent set minrto_]) * [$agent set backoff_]}]
}

# Notes the timeouts. "min_rto_growth", in s per s, raises every sender's minimum RTO as time goes on.
proc note_rtos {} {
    global ns opt sender rtos
    set line [$ns now]
    foreach name [lsort [array names sender]] {
        set agent $sender($name)
        $agent set minrto_ [expr {$opt(min_rto) + $opt(min_rto_growth) * [$ns now]}]
        append line " " [rto $agent]
    }
    puts $rtos $line
    $ns at [expr {[$ns now] + 1}] note_rtos
}

proc finish {} {
    global opt sender done rtos queue monitor nic
    set counts [open $opt(out).counts w]
    foreach {name field} {timeouts nrexmit_ retransmitted nrexmitpack_ cuts ncwndcuts_
            ecn_responses necnresponses_} {
        foreach kind [concat static [split $opt(kinds) ,]] {
            set sum 0
            foreach key [array names sender "$kind,*"] { incr sum [$sender($key) set $field] }
            puts $counts "$kind $name $sum"
        }
    }
    puts $counts "drops [$monitor set pdrops_]"
    close $counts
    foreach file [list $done $rtos $queue] { close $file }
    exit 0
}

set monitor [$ns monitor-queue $switch $client $queue $opt(sample)]
[$ns link $switch $client] queue-sample-timeout

for {set i 0} {$i < $opt(flows)} {incr i} {
    join_hosts static $i
    set source [new Application/FTP]
    $source attach-agent $sender(static,$i)
    # Not at once: with equal rates the order of simultaneous events would decide who is dropped.
    $ns at [expr {0.001 * $i}] "$source start"
}
if {$opt(requests) != ""} {
    foreach kind [split $opt(kinds) ,] {
        for {set i 0} {$i < $opt(servers)} {incr i} { join_hosts $kind $i }
    }
    set list [open $opt(requests)]
    gets $list pending
    ask_due
}
$ns at 1 note_rtos
$ns at $opt(end) finish
$ns run
