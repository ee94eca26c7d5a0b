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

export function parseCons(text: string): readonly ConnectionLine[] {
  return text.split("\n").flatMap((line) => {
    const parts = partsOf(line);
    if (parts === undefined) return [];
    const { address, list } = parts;
    const fields = new Map(list.split(",").map((field) => field.split("=", 2) as [string, string | undefined]));
    const number = (name: string): number | undefined => {
      const value = fields.get(name);
      return value === undefined ? undefined : Number(value);
    };
    return [
      {
        address,
        sessionId: fields.get("sid"),
        timeoutMs: number("to"),
        lastOperation: fields.get("lop"),
        received: number("recved") ?? 0,
        sent: number("sent") ?? 0,
        outstanding: number("queued") ?? 0,
        establishedMs: number("est"),
        averageLatencyMs: number("avglat"),
      },
    ];
  });
}
