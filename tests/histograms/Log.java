// Reads or writes an interval log with HdrHistogram in Java, and prints what each interval is.

import java.io.File;
import org.HdrHistogram.EncodableHistogram;
import org.HdrHistogram.Histogram;
import org.HdrHistogram.HistogramLogReader;
import org.HdrHistogram.HistogramLogWriter;

public class Log {
  private static final double[] PERCENTILES = {25, 50, 75, 90, 99, 99.9, 100};

  private static void print(Histogram histogram) {
    StringBuilder line = new StringBuilder(histogram.getTag() == null ? "-" : histogram.getTag());
    line.append(' ').append(histogram.getStartTimeStamp());
    line.append(' ').append(histogram.getEndTimeStamp() - histogram.getStartTimeStamp());
    line.append(' ').append(histogram.getTotalCount());
    for (double percent : PERCENTILES) {
      line.append(' ').append(histogram.getValueAtPercentile(percent));
    }
    System.out.println(line);
  }

  private static void write(String path) throws Exception {
    HistogramLogWriter log = new HistogramLogWriter(path);
    log.outputComment("[written by HdrHistogram in Java]");
    log.outputLogFormatVersion();
    log.outputStartTime(1500000040000L);
    log.outputBaseTime(1500003640000L);
    log.setBaseTime(1500003640000L);
    log.outputLegend();
    long random = 7;
    for (int number = 0; number < 6; number++) {
      Histogram histogram = new Histogram(3);
      for (int value = 0; number != 2 && value < 300; value++) {
        random = random * 16807 % 2147483647;
        histogram.recordValue(1000 + random % 50_000_000);
      }
      histogram.setStartTimeStamp(1500003640000L + number * 1007);
      histogram.setEndTimeStamp(1500003640000L + (number + 1) * 1007);
      if (number % 2 == 1) {
        histogram.setTag("odd");
      }
      log.outputIntervalHistogram(histogram);
      print(histogram);
    }
    log.close();
  }

  public static void main(String[] arguments) throws Exception {
    if (arguments[0].equals("write")) {
      write(arguments[1]);
      return;
    }
    HistogramLogReader reader = new HistogramLogReader(new File(arguments[1]));
    for (EncodableHistogram next; (next = reader.nextIntervalHistogram()) != null; ) {
      print((Histogram) next);
    }
  }
}
