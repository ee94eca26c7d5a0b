import { connect } from "node:net";
import { type Door, sizeOf, wordOf } from "./door.ts";
import type { MeasuredProcess } from "./measured-process.ts";

const WORDS = ["ruok", "isro", "srvr", "stat", "mntr", "cons", "conf", "envi", "dump", "wchs", "wchc", "wchp", "dirs"];
const MORE = ["hash", "gtmk", "stmk", "srst", "crst", "none"];

/**
 * Four-letter words on the client port, on one connection after the other or on many at the same
 * time.
 */
export function wordDoor(server: MeasuredProcess): Door {
  return {
    name: "words",
    limitMs: 25,
    fields: {
      word: { words: [...WORDS, ...MORE] },
      connections: { sizes: [1, 10, 50, 200] },
      argumentBytes: { sizes: [0, 8, 1000, 100_000] },
    },
    seeds: [...WORDS, ...MORE].flatMap((word) => [
      { word, connections: 1 },
      { word, connections: 50 },
    ]),
    async send(shape) {
      const bytes = Buffer.concat([Buffer.from(wordOf(shape, "word")), Buffer.alloc(sizeOf(shape, "argumentBytes"))]);
      const count = Math.max(1, sizeOf(shape, "connections"));
      await Promise.all(Array.from({ length: count }, () => asked(server.port, bytes)));
      return { bytes: bytes.length * count };
    },
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
}

async function asked(port: number, bytes: Uint8Array): Promise<void> {
  const socket = connect({ port, host: "127.0.0.1" });
  socket.on("error", () => socket.destroy());
  socket.resume();
  const closed = new Promise((resolve) => socket.once("close", resolve));
  socket.end(bytes);
  await closed;
}
