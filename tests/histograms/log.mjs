// Reads or writes an interval log with hdr-histogram-js, and prints what each interval is.
import { readFileSync, writeFileSync } from "node:fs";
import { build, HistogramLogReader, HistogramLogWriter } from "hdr-histogram-js";

const PERCENTILES = [25, 50, 75, 90, 99, 99.9, 100];

function print(histogram) {
  const tag = histogram.tag && histogram.tag !== "NO TAG" ? histogram.tag : "-";
  const start = Math.round(histogram.startTimeStampMsec);
  const length = Math.round(histogram.endTimeStampMsec - histogram.startTimeStampMsec);
  const values = PERCENTILES.map((percent) => histogram.getValueAtPercentile(percent));
  console.log([tag, start, length, histogram.totalCount, ...values].join(" "));
}

function write(path) {
  let text = "";
  const log = new HistogramLogWriter((part) => (text += part));
  log.outputComment("[written by hdr-histogram-js]");
  log.outputLogFormatVersion();
  log.outputStartTime(1500000040000);
  log.outputComment("[BaseTime: 1500003640.000 (seconds since epoch)]");
  log.baseTime = 1500003640000;
  log.outputLegend();
  let random = 7;
  for (let number = 0; number < 6; number += 1) {
    const histogram = build({ bitBucketSize: 32, numberOfSignificantValueDigits: 3 });
    for (let value = 0; number !== 2 && value < 300; value += 1) {
      random = (random * 16807) % 2147483647;
      histogram.recordValue(1000 + (random % 50000000));
    }
    histogram.startTimeStampMsec = 1500003640000 + number * 1007;
    histogram.endTimeStampMsec = histogram.startTimeStampMsec + 1007;
    if (number % 2 === 1) histogram.tag = "odd";
    log.outputIntervalHistogram(histogram);
    print(histogram);
  }
  writeFileSync(path, text);
}

const [, , action, path] = process.argv;
if (action === "write") {
  write(path);
} else {
  const reader = new HistogramLogReader(readFileSync(path, "utf8"));
  for (let histogram; (histogram = reader.nextIntervalHistogram()) !== null; ) print(histogram);
}
