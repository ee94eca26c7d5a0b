/**
 * The thread of a link: it reads the socket, answers pings and spools, whatever the consumer does.
 */
import { parentPort, workerData } from "node:worker_threads";
import { ApachePeerError } from "../core/peer-error.ts";
import { EpochFile } from "./epoch-file.ts";
import { Link } from "./link.ts";
import type { FromLink, LinkStart, ToLink } from "./link-messages.ts";
import type { LinkNote } from "./link-note.ts";
import { Spool } from "./spool.ts";
import { noteBytes, RecordKind } from "./spool-record.ts";
import { touchesOf } from "./touch-columns.ts";

if (parentPort === null) throw new Error("link-thread.ts is the file of a thread");
const port = parentPort;
const start = workerData as LinkStart;
const spool = new Spool({ directory: start.spoolDirectory, memoryBytesMax: start.spoolMemoryBytesMax });
let isWanted = false;
let isFlushing = false;
let lastState = "";
/** How old the status may be that the other thread has, while it asks for no batch. */
const STATUS_MS = 1000;

const link = newLink();

port.on("message", (message: ToLink) => {
  switch (message.kind) {
    case "pull":
      isWanted = true;
      changed();
      break;
    case "touch":
      link?.touch(touchesOf(message.touches));
      break;
    case "sync":
      link?.sync();
      break;
    case "close":
      clearInterval(reporting);
      link?.close();
      spool.close();
      if (link !== undefined) post({ kind: "status", status: link.status });
      port.close();
  }
});
link?.start();
const reporting = setInterval(() => {
  if (link !== undefined) post({ kind: "status", status: link.status });
}, STATUS_MS);

/** Undefined where the file of epochs is none: that is noted, and there is nothing to link. */
function newLink(): Link | undefined {
  try {
    return new Link(start.link, {
      spool,
      epochs: new EpochFile(start.epochFile),
      now: () => performance.now(),
      random: () => Math.random(),
      changed,
    });
  } catch (error) {
    if (!(error instanceof ApachePeerError)) throw error;
    spool.push(RecordKind.NOTE, noteBytes({ kind: "failed", error: error.detail } satisfies LinkNote));
    return undefined;
  }
}

/** Several changes of one turn go in one batch. */
function changed(): void {
  const status = link?.status;
  if (status !== undefined && status.state !== lastState) {
    lastState = status.state;
    post({ kind: "status", status });
  }
  if (!isWanted || isFlushing) return;
  isFlushing = true;
  setImmediate(flush);
}

function flush(): void {
  isFlushing = false;
  const bytes = spool.take();
  if (bytes === undefined) return;
  isWanted = false;
  if (link !== undefined) post({ kind: "status", status: link.status });
  const batch = bytes as Buffer<ArrayBuffer>;
  port.postMessage({ kind: "batch", bytes: batch } satisfies FromLink, [batch.buffer]);
  link?.drained();
}

function post(message: FromLink): void {
  port.postMessage(message);
}
