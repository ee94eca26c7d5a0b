import { type Client, createClient } from "@zooid/client";
import { answer, dataAnswer, ScriptedServer } from "@zooid/client/testing/scripted-server";
import { OpCode } from "@zooid/model";
import type { JuteWriter } from "@zooid/wire";
import { type Door, type DoorShape, sizeOf, wordOf } from "./door.ts";
import { LoopWatch } from "./loop-watch.ts";

const KINDS = ["empty names", "names", "data", "list", "config", "members", "page", "results", "identities", "error"];

/** As many as a client takes by default, and the least that an entry takes. */
const ANSWER_BYTES_MAX = 60 * 1024 * 1024;
const ENTRY_BYTES = 40;
const STAT_INTS = 17;

/**
 * The answers of a server, which may be false, to a client, to zooid-cli and to the console: these
 * use the same client, and read the members' text.
 */
export async function answerDoor(): Promise<Door> {
  const server = await ScriptedServer.start();
  const watch = new LoopWatch();
  return {
    name: "answers",
    limitMs: 250,
    fields: {
      of: { words: KINDS },
      count: { sizes: [0, 10, 1000, 100_000, 1_000_000, 4_000_000] },
      size: { sizes: [0, 1, 10, 1000, 100_000] },
    },
    seeds: [
      { of: "empty names", count: 1_000_000, size: 0 },
      { of: "empty names", count: 4_000_000, size: 0 },
      { of: "names", count: 100_000, size: 10 },
      { of: "data", count: 1000, size: 10_000 },
      { of: "list", count: 100_000, size: 10 },
      { of: "config", count: 1000, size: 8 },
      { of: "page", count: 1_000_000, size: 1 },
      { of: "page", count: 1000, size: 1000 },
      { of: "results", count: 1_000_000, size: 1 },
      { of: "identities", count: 1_000_000, size: 1 },
      { of: "members", count: 1000, size: 10 },
      { of: "members", count: 10, size: 1000 },
    ],
    async send(shape) {
      // A client that cuts a connection off connects again: each answer has a client of its own.
      const client = createClient(server.hosts, {});
      // Nothing answers a close on the connection after a refused answer.
      using _ = { [Symbol.dispose]: () => client.disconnect() };
      const line = await server.session();
      const asked = ask(client, wordOf(shape, "of"));
      // A page is asked for where the server has said that it has them.
      if (wordOf(shape, "of") === "page") line.send(dataAnswer(await line.request(), "child-pages"));
      const frame = answer(await line.request(), {}, bodyOf(shape));
      watch.begin();
      line.send(frame);
      await Promise.race([asked, line.closed]);
      const heldMs = await watch.end();
      line.reset();
      return { bytes: frame.length, heldMs };
    },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

async function ask(client: Client, of: string): Promise<unknown> {
  const asked = (): Promise<unknown> => {
    switch (of) {
      case "data":
        return client.get("/a");
      case "list":
        return client.getAcl("/a");
      case "config":
      case "members":
        return client.getConfig();
      case "page":
        return client.childPages("/a", { detail: "names" }).next();
      case "results":
        return client.transaction().create("/a").commit();
      case "identities":
        return client.whoAmI();
      default:
        return client.children("/a");
    }
  };
  // What it refuses costs as well.
  return asked().catch(() => undefined);
}

function bodyOf(shape: DoorShape): (writer: JuteWriter) => void {
  const count = sizeOf(shape, "count");
  const size = sizeOf(shape, "size");
  const within = Math.min(count, Math.floor(ANSWER_BYTES_MAX / (size + ENTRY_BYTES)));
  return (writer) => {
    switch (wordOf(shape, "of")) {
      case "empty names":
      case "names": {
        const name = wordOf(shape, "of") === "names" ? "n".repeat(size) : "";
        writer.int(within);
        for (let i = 0; i < within; i++) writer.text(name);
        return;
      }
      case "data":
        writer.text("d".repeat(within * size));
        return putStat(writer);
      case "list":
        writer.int(within);
        for (let i = 0; i < within; i++) {
          writer.int(31);
          writer.text("digest");
          writer.text("i".repeat(size));
        }
        return putStat(writer);
      case "page":
        writer.int(within);
        for (let i = 0; i < within; i++) writer.text("n".repeat(size));
        return putStat(writer);
      case "identities":
        writer.int(within);
        for (let i = 0; i < within; i++) {
          writer.text("s".repeat(size));
          writer.text("u");
        }
        return;
      case "results":
        for (let i = 0; i < within; i++) {
          putResult(writer, OpCode.CREATE);
          writer.text("p".repeat(size));
        }
        return putResult(writer, -1);
      case "config":
        writer.text(`server.1=${" \r".repeat(within)}${"a".repeat(size)}`);
        return putStat(writer);
      case "members":
        writer.text(`server.1=${"h".repeat(size)}:1:2:participant;3\n`.repeat(within));
        return putStat(writer);
      default:
        return;
    }
  };
}

/** The head of one result; that of -1 ends them. */
function putResult(writer: JuteWriter, op: number): void {
  writer.int(op);
  writer.bool(op === -1);
  writer.int(0);
}

function putStat(writer: JuteWriter): void {
  for (let i = 0; i < STAT_INTS; i++) writer.int(0);
}
