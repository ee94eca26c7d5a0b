import { linesOf } from "./in-slices.ts";

/** The answer to the four-letter word `cons`: the connections of one server. */
export interface ConnectionLine {
  readonly address: string;
  /** `0x…`; undefined for a connection without a session, such as the one that asks. */
  readonly sessionId: string | undefined;
  readonly timeoutMs: number | undefined;
  readonly lastOperation: string | undefined;
  readonly received: number;
  readonly sent: number;
  readonly outstanding: number;
  readonly establishedMs: number | undefined;
  readonly averageLatencyMs: number | undefined;
}

/** `/address[interests](fields)`; an IPv6 address may have brackets too. */
function partsOf(line: string): { readonly address: string; readonly list: string } | undefined {
  const text = line.trim();
  const open = text.lastIndexOf("](");
  const bracket = text.lastIndexOf("[", open);
  if (!text.startsWith("/") || !text.endsWith(")") || bracket < 2 || !/^\d+$/.test(text.slice(bracket + 1, open)))
    return undefined;
  return { address: text.slice(1, bracket), list: text.slice(open + 2, -1) };
}

/** One for each line; undefined for a line that is none. */
export function* parseCons(text: string): Generator<ConnectionLine | undefined, void, undefined> {
  for (const line of linesOf(text)) {
    const parts = partsOf(line);
    if (parts === undefined) {
      yield undefined;
      continue;
    }
    const { address, list } = parts;
    const fields = new Map(list.split(",").map((field) => field.split("=", 2) as [string, string | undefined]));
    const number = (name: string): number | undefined => {
      const value = fields.get(name);
      return value === undefined ? undefined : Number(value);
    };
    yield {
      address,
      sessionId: fields.get("sid"),
      timeoutMs: number("to"),
      lastOperation: fields.get("lop"),
      received: number("recved") ?? 0,
      sent: number("sent") ?? 0,
      outstanding: number("queued") ?? 0,
      establishedMs: number("est"),
      averageLatencyMs: number("avglat"),
    };
  }
}
