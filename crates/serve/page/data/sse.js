// Reads an event stream from the body of a response, one event after the other.

/**
 * Yields `{ event, data }` until the stream ends; an abort of the request throws.
 * @param {ReadableStream<Uint8Array>} body
 */
export async function* eventsOf(body) {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let rest = "";
  let event = "message";
  /** @type {string[]} */
  let data = [];
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      const lines = (rest + decoder.decode(value, { stream: true })).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) {
        const text = line.endsWith("\r") ? line.slice(0, -1) : line;
        if (text === "") {
          if (data.length) yield { event, data: data.join("\n") };
          event = "message";
          data = [];
        } else if (text.startsWith("event:")) {
          event = text.slice(6).trimStart();
        } else if (text.startsWith("data:")) {
          data.push(text.slice(text[5] === " " ? 6 : 5));
        }
      }
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}
