// The answers of the server. Made by tests/page/types.mjs: see CONTRIBUTING.md

/** How many events there are of a kind. */
export type Amount = {
  /** How many events there are. */
  count: number;
  /** The name; null if it is not known. */
  name?: string | null;
};

/** A channel. */
export type ChannelObject = {
  /** Its name. */
  name: string;
  /** Whether it is on. */
  on: boolean;
};

/** A channel to switch. */
export type ChannelRequest = {
  /**
   * Whether it is one of events that are defined later, although its name is like that of
   * another one.
   */
  later?: boolean;
  /** Its name. */
  name: string;
  /** Whether it shall be on. */
  on: boolean;
};

/** What can be changed of a live timeline. */
export type ControlState = {
  /** The channels. */
  channels: ChannelObject[];
  /** Which events are logged: the level, and rules behind it. */
  level: string;
};

/** All definitions of a log. */
export type DefinitionList = {
  /** By their numbers. */
  definitions: DefinitionObject[];
};

/** A definition. */
export type DefinitionObject = {
  /** The part of the program it belongs to. */
  category?: string | null;
  /** Its channels. */
  channels: string[];
  /** Its number in its ring; others may have it in an archive of several. */
  definition?: number | null;
  /** The name of its events, such as `engine.got_packet`. */
  event?: string | null;
  /** Its fields. */
  fields: FieldObject[];
  /** The file of the statement. */
  file?: string | null;
  /** Its message up to the first line break. */
  message: string;
  /** How much detail it is. */
  priority?: string | null;
  /** The further lines. */
  prose?: string | null;
  /** The line of the statement in its file. */
  source_line?: number | null;
};

/** An event with all that is known of it. */
export type Details = EventObject & {
  /** The call stack, innermost first. */
  backtrace: StackFrame[];
  /** The channels of the definition. */
  channels: string[];
  /** The column in that line, if properties name one. */
  column?: number | null;
  /** Where version control has the file, if properties name that. */
  depot_path?: string | null;
  /** Its values, in order. */
  fields: FieldValue[];
  /** The file of the statement, or the one that its properties name. */
  file?: string | null;
  /** The group of the thread. */
  group?: string | null;
  /** The machine it was recorded on, if an archive says so. */
  host?: string | null;
  /** The NUMA node of the CPU. */
  node?: number | null;
  /**
   * The properties of an event that was imported from JSON, as they stood there; of an event of
   * several lines, those of all. If a name has several values, the second is `name_2`.
   */
  properties?: unknown;
  /** The lines of the definition behind the first one. */
  prose?: string | null;
  /** The line in that file. */
  source_line?: number | null;
  /** The whole message, as it was defined. */
  template?: string | null;
  /** The raw clock reading. */
  ticks?: string | null;
  /** The timeline it was recorded from, if an archive says so. */
  timeline?: string | null;
};

/** Durations, the longest first. */
export type DurationList = {
  /** How many there are. */
  count: number;
  /** The longest of them; of equal ones, those that ended first. */
  durations: DurationObject[];
  /**
   * What was asked for and is in no definition, in words, with the nearest names. Absent if
   * there is nothing of that kind.
   */
  unknown?: string[];
};

/** A duration. */
export type DurationObject = {
  /** When it began. The event that began it has this time. */
  begin: Moment;
  /** In how many other spans of its thread it lies, of those that were asked for. */
  depth: number;
  /** How long it is, in nanoseconds. */
  duration: number;
  /** When it ended, likewise. */
  end: Moment;
  /** The value that both events share, if they are paired by one. */
  key?: unknown;
  /** That of its process. */
  pid?: number | null;
  /** The name of its process. */
  process?: string | null;
  /** The id of its series. */
  series: string;
  /** The name of the thread in which it ended. */
  thread?: string | null;
  /** The kernel's id of that thread. */
  tid?: number | null;
};

/** Durations, summed up. All are in nanoseconds. */
export type Durations = {
  /** The number of columns. */
  columns: number;
  /** The first time, in nanoseconds since 1970. */
  from: string;
  /** What has no other half, so that nothing was measured. */
  losses: LossObject;
  /** Those that are too many to be summed up. Ask for one by its name. */
  more: SeriesCount[];
  /** Where rows of the heat maps begin. The last one is the end of the last row. */
  rows: number[];
  /** The spans, or what else was asked for; the most durations first. */
  series: SeriesObject[];
  /** The time behind the last column. */
  to: string;
  /**
   * What was asked for and is in no definition, in words, with the nearest names. Absent if
   * there is nothing of that kind.
   */
  unknown?: string[];
};

/** The answer to a request that failed. */
export type ErrorObject = {
  /** What was expected, what came, and what to do. */
  error: string;
};

/** An event. */
export type EventObject = {
  /** The category of its definition. */
  category?: string | null;
  /** The CPU. */
  core?: number | null;
  /** The number of its definition in its ring; others may have it in an archive of several. */
  definition?: number | null;
  /** Its name, such as `engine.got_packet`. */
  event?: string | null;
  /** Whether it is an important event. Absent if not. */
  important?: boolean;
  /** The number of its first line, from 0. Absent where lines are not counted. */
  line?: number | null;
  /** How many lines its message has. */
  lines: number;
  /** The message. In lists, one of more than 8 KiB is cut, and ends in `…`. */
  message: string;
  /**
   * How many entries were overwritten right before it, or are gone there. Absent if there are
   * none.
   */
  missed?: number;
  /** That of the process. */
  pid?: number | null;
  /** The priority of its definition. */
  priority?: string | null;
  /** The name of the process. */
  process?: string | null;
  /** The name of the thread. */
  thread?: string | null;
  /** The kernel's id of the thread. */
  tid?: number | null;
  /** In RFC 3339 with nanoseconds, in UTC. */
  time?: string | null;
  /** In nanoseconds since 1970. */
  unix_ns?: string | null;
};

/** The executable of a process. */
export type ExecutableObject = {
  /** Its path. */
  path: string;
  /** Its SHA-1, in hexadecimal digits. */
  sha1?: string | null;
  /** Its bytes. */
  size?: number | null;
};

/** A field of a definition. */
export type FieldObject = {
  /** Its name. */
  name: string;
  /** Its type, as a message names it. */
  type: string;
  /** Its unit, if the type has one. */
  unit?: string | null;
};

/** A value of an event. */
export type FieldValue = {
  /** Its name, or its position if it has none. */
  name: string;
  /** The value as the message shows it. */
  shown: string;
  /** Its type, as a message names it. */
  type?: string | null;
  /** Its unit, if the type has one. */
  unit?: string | null;
  /** The value. A whole number beyond 2^53 is a text, because browsers would round it. */
  value: unknown;
};

/** The files of a log. */
export type FileList = {
  /** The oldest first. */
  files: FileObject[];
};

/** A file of an archive. */
export type FileObject = {
  /** How many bytes it has. */
  bytes: number;
  /** Its name. */
  name: string;
};

/** How far a log has grown. */
export type Growth = Lacks & {
  /** Whether more may come. */
  growing: boolean;
  /** How many of these are of important events, which come first. */
  important?: number | null;
  /** The time of the last event. */
  last?: null | Moment;
  /** How many lines it has; null while it is being indexed. */
  lines?: number | null;
  /** Why nothing is added at present; null if all is well. */
  trouble?: null | Trouble;
  /** Changes when lines are numbered anew. */
  version: number;
};

/** Lines that were found. */
export type Hits = {
  /** The numbers of the first lines of events, which rise. */
  lines: number[];
};

/** The index of a log. */
export type IndexState = {
  /** The share that is done. */
  done: number;
  /** Why it cannot be made; the log is read without it then. */
  error?: string | null;
  /** Whether it is being made, is there, or is not worthwhile. */
  state: string;
};

/** What holds the events of a log. */
export type Kind = "live" | "snapshot" | "archive";

/** What a log is known to lack. */
export type Lacks = {
  /** How many bytes are damaged. */
  damaged: number;
  /** How many entries are gone, with a part that was damaged or a file that was removed. */
  gone: number;
  /** How many entries were overwritten before they were recorded. */
  missed: number;
  /** In how many places nobody knows how many more, because no recorder ran between two runs. */
  missed_unknown: number;
  /** How many files are missing between the others. */
  missing_files: number;
};

/** The number of a line. */
export type LineObject = {
  /** The number, from 0. */
  line: number;
};

/** Events by the numbers of their lines. */
export type Lines = {
  /** The events, by their lines. */
  lines: EventObject[];
  /** How many lines the log has. */
  total: number;
  /** Changes when lines are numbered anew. */
  version: number;
};

/** How the list of logs has changed. */
export type ListChange = {
  /** Logs that are new, or of which something else is known now. */
  changed: LogObject[];
  /** The ids of logs that are gone. */
  removed: string[];
};

/** All logs. */
export type LogList = {
  /** By name. */
  logs: LogObject[];
};

/** A log that can be opened. */
export type LogObject = {
  /** The bytes of its files. */
  bytes?: number | null;
  /** Its name in requests. */
  id: string;
  /** What holds its events. */
  kind: Kind;
  /** When it was written last, in RFC 3339. */
  modified?: string | null;
  /** The last part of the name. */
  name: string;
  /** Where it is. */
  path: string;
  /** Of a timeline who writes it; null for what is none. */
  ring?: null | RingObject;
  /** Of an archive whose it is and how far; null as long as nobody has looked into it. */
  trace?: null | Trace;
};

/** What is known of a log. */
export type LogState = LogObject & Lacks & {
  /** How many events it has. */
  events: number;
  /** The time of the first event. */
  first?: null | Moment;
  /** Whether more events may come. */
  growing: boolean;
  /** How many of these are of important events, which come first. */
  important?: number | null;
  /** Its index. */
  index: IndexState;
  /** The time of the last event. */
  last?: null | Moment;
  /** How many lines it has; null while it is being indexed. */
  lines?: number | null;
  /** The programs that wrote it. */
  programs: Program[];
  /** Why nothing is added at present; null if all is well. */
  trouble?: null | Trouble;
  /** Changes when lines are numbered anew. */
  version: number;
};

/** How many events have no other half. */
export type LossObject = {
  /** Begins without an end. */
  begins: number;
  /** Ends without a begin: it was overwritten, or is too long ago. */
  ends: number;
  /** Entries that were overwritten before they were recorded. They are not events of one kind. */
  entries: number;
  /** Begins whose end has not come yet. */
  open: number;
  /** Pairs that end before they begin, by clocks that do not agree. */
  reversed: number;
  /** Events of threads that are not known. */
  threads: number;
  /** Events without a time, or without the key. */
  values: number;
};

/** A time. Browsers round numbers of this size, so nanoseconds are a text; in CBOR, a number. */
export type Moment = {
  /** In RFC 3339 with nanoseconds, in UTC. */
  time: string;
  /** In nanoseconds since 1970. */
  unix_ns: string;
};

/** How many events have a name. */
export type NameAmount = {
  /** The category of the definition. */
  category?: string | null;
  /** How many events there are. */
  count: number;
  /** The name, such as `engine.got_packet`. */
  name?: string | null;
  /** The priority of the definition. */
  priority?: string | null;
};

/** The counts of a log. */
export type Overview = {
  /** By category, the most events first. */
  categories: Amount[];
  /** How many events there are. */
  events: number;
  /** The first time. */
  first?: null | Moment;
  /** The last time. */
  last?: null | Moment;
  /** How many entries are known to be missing. */
  missed: number;
  /** By the names of events; the 1,000 with the most events. */
  names: NameAmount[];
  /** By priority. */
  priorities: Amount[];
  /** By time. */
  rate?: null | Rate;
  /** By thread; the 1,000 with the most events. */
  threads: ThreadObject[];
};

/** Wanted events in the order of their lines, as many as a page has. */
export type Page = {
  /** The events. */
  events: EventObject[];
  /** Where the next page begins: the value of `after`. Null if this is the last page. */
  next?: string | null;
  /**
   * If no event was found: a sentence for each name in the filters that is in nothing of the
   * log, with those like it.
   */
  unknown: string[];
  /**
   * How many events between those of this page met all conditions but `pid`, and are left out
   * because the process is not known: their threads are forgotten.
   */
  unknown_process: number;
};

/** A point of a percentile spectrum. */
export type Point = {
  /** How many durations there are behind the point before, up to this one. */
  count: number;
  /** One of how many durations is longer: 1 / (1 - share). Null at 100 %. */
  one_of?: number | null;
  /** The percentile. */
  percent: number;
  /** How long so many percent of the durations are at most. */
  value: number;
};

/** A program that wrote a log. */
export type Program = {
  /** The machine. */
  host?: string | null;
  /** The timeline. */
  timeline?: string | null;
};

/** How far a search is. */
export type Progress = {
  /** How many were found in each of 256 parts of the log with as many lines each. */
  density: number[];
  /** Which share of the lines was searched. */
  done: number;
  /** How many events were found. */
  found: number;
  /** Whether there may be more, because so many were found as were asked for. */
  limited: boolean;
  /** The first line that was not searched: `from` of a search that goes on. */
  next: number;
  /**
   * At the end, if nothing was found: a sentence for each name in the filters that is in nothing
   * of the log, with those like it.
   */
  unknown: string[];
  /**
   * How many events met all conditions but `pid`, and are left out because the process is not
   * known: their threads are forgotten.
   */
  unknown_process: number;
};

/** How many events there are in each of equal parts of a range of time. */
export type Rate = {
  /** The counts. Runs of events are spread evenly over their time. */
  counts: number[];
  /** The first time, in nanoseconds since 1970. */
  from: string;
  /** The last time. */
  to: string;
};

/** All recordings. */
export type RecordingList = {
  /** In the order in which they began. */
  recordings: RecordingObject[];
};

/** A recording of an agent. */
export type RecordingObject = {
  /** Whether the agent began it by itself. */
  automatic: boolean;
  /** How many events were recorded. */
  events: number;
  /** The file, if it goes to one. */
  file?: string | null;
  /** How many entries were overwritten before they could be recorded. */
  missed: number;
  /** Its number, by which it is stopped. */
  number: number;
  /** When it began. */
  since: Moment;
  /** How far it is. */
  state: RecordingStage;
  /** The store, if it goes to one. */
  store?: string | null;
  /** The name of the timeline. */
  timeline: string;
  /** What fails at present, or why it ended. */
  trouble?: string | null;
};

/** A recording to begin. It goes either to a file or to a store. */
export type RecordingOrder = {
  /** A file in the directory of the agent; with a slash at the end, a directory of files. */
  file?: string | null;
  /** The oldest files are removed when all have more bytes. */
  keep_size?: number | null;
  /** What a store keeps with it. */
  labels?: Record<string, string>;
  /** A new file begins before one has more bytes. */
  rotate_size?: number | null;
  /** The host of a store, with a port or without. */
  store?: string | null;
  /** The name of the timeline. */
  timeline: string;
};

/** How far a recording is. */
export type RecordingStage = "running" | "complete" | "failed";

/** What was removed. */
export type RemovalObject = {
  /** Their bytes. */
  bytes: number;
  /** The files. */
  files: number;
};

/** Who writes a timeline, and what. */
export type RingObject = {
  /** How many entries were written. */
  entries: number;
  /** Which events are logged: the level, and rules behind it. */
  level: string;
  /** How many processes write to it. */
  writers: number;
};

/** The counts of a thread or core. */
export type Row = ThreadObject & {
  /**
   * The parts that have events. Of each: its number, how many events it has, the category that
   * most of them are of, and the times of the first and the last, in nanoseconds since `from`.
   */
  cells: number[][];
  /** The core. */
  core?: number | null;
  /** A text that no other row has. */
  key: string;
};

/** Rules to put in force. */
export type RulesRequest = {
  /**
   * Whether they are of events that are defined later, although their names are like those of
   * others.
   */
  later?: boolean;
  /**
   * Words with commas between: a level (the name of a priority, or none, or all), levels of
   * categories (engine=packet), and names of events (+net.sent, -*.idle_*). A level alone ends
   * all rules so far.
   */
  rules: string;
};

/** Bursts of detail. */
export type SampleRequest = {
  /** How long all of it lasts, likewise; an hour at most. */
  duration_ns: number;
  /** How often there is one, likewise. */
  every_ns: number;
  /** How long each is, in nanoseconds. */
  for_ns: number;
  /** The level of the bursts. */
  level: string;
};

/** How many durations have a name. */
export type SeriesCount = {
  /** How many durations there are. */
  count: number;
  /** As in `series`. */
  id: string;
};

/** The durations of one name. */
export type SeriesObject = {
  /** The cells of the heat map that have durations: column, row, count. */
  cells: number[][];
  /** How many durations there are. */
  count: number;
  /** A text that no other series has: the value of `series` in the request for a list. */
  id: string;
  /** The field whose value both events share, if they are paired by one. */
  key?: string | null;
  /** The longest. */
  max: number;
  /** Their mean. */
  mean: number;
  /** The shortest. */
  min: number;
  /** The name of the span or the event, or what was asked for. */
  name: string;
  /**
   * The columns that have durations. Of each: its number, how many end in it, and, exact to
   * 1.6 %, the percentiles 50, 99 and 99.9, and the longest.
   */
  over_time: number[][];
  /** How long at most half of them are; exact to 0.1 %, as the other percentiles. */
  p50: number;
  /** Likewise 90 %. */
  p90: number;
  /** Likewise 99 %. */
  p99: number;
  /** Likewise 99.9 %. */
  p99_9: number;
  /** Likewise 99.99 %. */
  p99_99: number;
  /** The values at rising percentiles. */
  spectrum: Point[];
};

/** What the server is. */
export type ServerObject = {
  /** Whether levels and channels of live timelines can be changed. */
  control: boolean;
  /** Whether requests need a token. */
  token: boolean;
  /** Its version. */
  version: string;
};

/** The spans of a thread or core. */
export type SpanRow = ThreadObject & {
  /** The core on which they ended. */
  core?: number | null;
  /**
   * Of each span: the place of its name, begin and end in nanoseconds since `from`, in how many
   * others it lies, and 1 if its events are paired by a key, else 0. Two more if it has not
   * ended: then its end is the last time of the log.
   */
  spans: number[][];
};

/** The spans that overlap a range of time. */
export type Spans = {
  /**
   * Whether the log has grown since these were found. Spans that last long are looked for now
   * and then, because all of the log has to be read.
   */
  behind: boolean;
  /** Whether there may be others outside of the range. */
  elsewhere: boolean;
  /** The first time, in nanoseconds since 1970. */
  from: string;
  /** How many are beyond `limit`, and left out; the longest are kept. */
  more: number;
  /** The names of spans. */
  names: string[];
  /** The threads or cores that have any. */
  rows: SpanRow[];
  /** How many are shorter than `min`, and left out. */
  short: number;
  /** The time behind the range. */
  to: string;
};

/**
 * A function of a call stack, as far as it is known: that of an address, or one that the compiler
 * put there into the function behind it.
 */
export type StackFrame = {
  /** In base 16: 0x1f. */
  address: string;
  /** The file of the source, if the object has debug information. */
  file?: string | null;
  /** The function. */
  function?: string | null;
  /** Whether it stands in the function behind it, with which it shares the address. */
  inlined: boolean;
  /** Its line. */
  line?: number | null;
  /** The file of the program or library. */
  object?: string | null;
  /** The bytes from its beginning. */
  offset?: number | null;
};

/** All threads of a log. */
export type ThreadList = {
  /** The busiest first. */
  threads: ThreadObject[];
};

/** A thread. */
export type ThreadObject = {
  /** How many events it logged. */
  count: number;
  /** The executable of that process, if it is known. */
  executable?: null | ExecutableObject;
  /** Its group, if the program gave it one. */
  group?: string | null;
  /** Its name. */
  name?: string | null;
  /** That of its process. */
  pid?: number | null;
  /** The name of its process. */
  process?: string | null;
  /** The kernel's id. */
  tid?: number | null;
};

/** What is known of an archive: of the last program in it, if there are several. */
export type Trace = {
  /**
   * How the clock of the machine compared with that of the store; null if nobody has compared
   * them.
   */
  clock?: null | TraceClock;
  /** When the ring was created. */
  created?: null | Moment;
  /** How long it is from the first event to the last, in nanoseconds. */
  duration_ns?: number | null;
  /** How many events it has. */
  events: number;
  /** The time of the first event. */
  first?: null | Moment;
  /** How many entries of a damaged part or a removed file are gone. */
  gone: number;
  /** The machine. */
  host?: string | null;
  /** What its sender was given to be kept with it. */
  labels: Record<string, string>;
  /** The time of the last event. */
  last?: null | Moment;
  /** How many entries were overwritten before they could be recorded. */
  missed: number;
  /** The process that created the ring. */
  pid?: number | null;
  /** The executable. */
  program?: string | null;
  /**
   * Whether more may come; null for an archive that no store has received.
   * It is `receiving`, `ended` or `broken off`.
   */
  state?: string | null;
  /** The timeline. */
  timeline?: string | null;
  /** The user that the ring belongs to. */
  user?: string | null;
};

/** The last comparison of two clocks. */
export type TraceClock = {
  /** By how much that may be wrong in either direction. */
  error_ns: number;
  /** The machine that has the other clock. */
  host?: string | null;
  /** What is added to a time for the time of the other clock, in nanoseconds. */
  offset_ns: number;
};

/** Counts by thread or core. */
export type Tracks = {
  /** The number of parts. */
  buckets: number;
  /** The names of categories. */
  categories: string[];
  /** Whether each count is exact. If not, the counts of runs of events are spread evenly. */
  exact: boolean;
  /** The first time, in nanoseconds since 1970. */
  from: string;
  /** The threads or cores. */
  rows: Row[];
  /** The time behind the last part. */
  to: string;
  /**
   * If the log has no such event at any time: a sentence for each name in the filters that is in
   * nothing of the log, with those like it.
   */
  unknown: string[];
  /**
   * How many events of the log, at any time, met all conditions but `pid`, and are left out
   * because the process is not known: their threads are forgotten.
   */
  unknown_process: number;
};

/** Why nothing is added to the archive of a ring at present. */
export type Trouble = {
  /** What failed. It is tried again until it works. */
  error: string;
  /** How many entries the ring has that wait, or were overwritten meanwhile. */
  waiting: number;
};

/** The names in filters that are in nothing of a log. */
export type UnknownList = {
  /** In the order of the filters. */
  unknown: UnknownName[];
};

/** A name in filters that is in nothing of a log. */
export type UnknownName = {
  /** The name. */
  name: string;
  /** A sentence with names that are like it. */
  sentence: string;
  /** What it would be the name of: category, event, field, thread, process or core. */
  what: string;
};

/** What is watched for. */
export type WatchRequest = {
  /** After a firing, others of the same condition are counted for this time: 10s. */
  cooldown?: string | null;
  /** The answer ends after this time, in nanoseconds. */
  duration_ns?: number | null;
  /** Whether a line is an object of JSON, or is for people. */
  json?: boolean;
  /** The answer ends after so many firings. */
  max_firings?: number | null;
  /** Conditions, of which any is enough: span engine.breath > 1ms, rate(net.sent, 1s) > 1000/s. */
  when: string[];
};

/** The answers to GET, by the path behind `api/`. */
export interface Answers {
  "logs": LogList;
  "logs/{log}": LogState;
  "logs/{log}/at": LineObject;
  "logs/{log}/control": ControlState;
  "logs/{log}/definitions": DefinitionList;
  "logs/{log}/durations": Durations;
  "logs/{log}/durations/list": DurationList;
  "logs/{log}/events": Page;
  "logs/{log}/files": FileList;
  "logs/{log}/lines": Lines;
  "logs/{log}/lines/{line}": Details;
  "logs/{log}/overview": Overview;
  "logs/{log}/spans": Spans;
  "logs/{log}/threads": ThreadList;
  "logs/{log}/tracks": Tracks;
  "logs/{log}/unknown": UnknownList;
  "recordings": RecordingList;
  "server": ServerObject;
}

/** The answers to POST that are JSON, likewise. */
export interface Results {
  "logs/{log}/channels": ControlState;
  "logs/{log}/rules": ControlState;
  "logs/{log}/sample": ControlState;
  "recordings": RecordingObject;
}
