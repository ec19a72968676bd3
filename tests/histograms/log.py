"""Reads or writes an interval log with hdrhistogram of PyPI, and prints what each interval is."""
import sys

from hdrh.histogram import HdrHistogram
from hdrh.log import HistogramLogReader, HistogramLogWriter

PERCENTILES = [25, 50, 75, 90, 99, 99.9, 100]
HOUR = 3_600_000_000_000


def show(histogram):
    start = histogram.get_start_time_stamp()
    length = histogram.get_end_time_stamp() - start
    values = [histogram.get_value_at_percentile(percent) for percent in PERCENTILES]
    count = histogram.get_total_count()
    print(histogram.get_tag() or "-", round(start), round(length), count, *values)


def write(path):
    with open(path, "w", encoding="utf-8") as file:
        log = HistogramLogWriter(file)
        log.output_comment("[written by hdrhistogram of PyPI]")
        log.output_log_format_version()
        # Its output_start_time() calls what no date of Python has.
        log.output_comment("[StartTime: 1500000040.000000 (seconds since epoch), 2017-07-14 02:40:40]")
        log.output_base_time(1500003640000)
        log.base_time = 1500003640000
        log.output_legend()
        random = 7
        for number in range(6):
            histogram = HdrHistogram(1, HOUR, 3)
            for _ in range(0 if number == 2 else 300):
                random = random * 16807 % 2147483647
                histogram.record_value(1000 + random % 50_000_000)
            # It takes an end of 0 for none.
            histogram.set_start_time_stamp(1500003640000 + number * 1007)
            histogram.set_end_time_stamp(1500003640000 + (number + 1) * 1007)
            log.output_interval_histogram(histogram)
            show(histogram)


def read(path):
    reader = HistogramLogReader(path, HdrHistogram(1, HOUR, 3))
    while (histogram := reader.get_next_interval_histogram()) is not None:
        show(histogram)


{"read": read, "write": write}[sys.argv[1]](sys.argv[2])
