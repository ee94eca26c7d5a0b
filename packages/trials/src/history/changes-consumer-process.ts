/**
 * A consumer of changes that may be killed at any moment: it appends each change to a file, and its
 * next process continues from there.
 *
 *     node changes-consumer-process.ts HOSTS PATH FILE PAGE_SIZE WAY
 *
 * WAY is `reached`: behind the last `reached` of the stream; or `change`: before the last change in
 * the file, since its transaction may have more.
 */
import { connect } from "@zooid/client";
import type { Zxid } from "@zooid/model";
import { ConsumerFile, seenChange } from "./consumer-file.ts";

const SESSION_MS = 20_000;

const [, , hosts = "", path = "", file = "", pageSize = "", way = ""] = process.argv;
const consumed = new ConsumerFile(file);
const { changes, reached } = consumed.read();
const last = changes.at(-1)?.zxid ?? 0;
const after = way === "change" && last > reached ? last - 1 : reached;
consumed.append({ kind: "resumed", after });
const client = await connect(hosts, { sessionTimeoutMs: SESSION_MS });
client.changes$(path, { after: after as Zxid, recursive: true, pageSize: Number(pageSize) }).subscribe({
  next: (item) => {
    switch (item.kind) {
      case "reached":
        return consumed.append({ kind: "reached", zxid: item.zxid });
      case "gap":
        return consumed.append({ kind: "fault", message: `a gap after ${item.after} and up to ${item.end}` });
      case "change":
        return consumed.append({ kind: "change", ...seenChange(item) });
    }
  },
  error: (error: unknown) => {
    consumed.append({ kind: "fault", message: String(error) });
    process.exit(1);
  },
});
