// What a run prints: one JSON object with hull's names and units.

#ifndef HULL_VALIDATION_REPORT_H
#define HULL_VALIDATION_REPORT_H

#include "queue_meter.h"
#include "settings.h"
#include "traffic.h"

#include <vector>

void PrintReport(const Settings& settings,
                 const Traffic& traffic,
                 const QueueMeter& queue,
                 const std::vector<ns3::Ptr<ns3::QueueDisc>>& ports);

#endif
