import { OpCode } from "@zooid/model";
import type { JuteWriter } from "@zooid/wire";
import { auth } from "@zooid/wire/testing/raw-client";
import { Attacker } from "../../attacks/attacker.ts";
import { type Door, type DoorShape, sizeOf, wordOf } from "./door.ts";
import { type MeasuredProcess, SUPER_PASSWORD } from "./measured-process.ts";

/** Changes of the ensemble's members, by a client that may change them and by one that may not. */
export async function reconfigDoor(server: MeasuredProcess): Promise<Door> {
  const stranger = await Attacker.open({ port: server.port, timeoutMs: 40_000 });
  let permitted = await openPermitted(server.port);
  return {
    name: "reconfig",
    limitMs: 10,
    fields: {
      by: { words: ["permitted", "stranger"] },
      list: { words: ["joining", "leaving", "members"] },
      of: { words: ["lines", "commas", "blanks", "returns", "semicolons", "digits", "groups", "equals", "letters"] },
      bytes: { sizes: [0, 100, 1000, 6000, 32_000, 33_000, 500_000] },
    },
    seeds: ["lines", "commas", "blanks", "returns", "semicolons", "digits", "groups", "equals"].flatMap((of) => [
      { by: "stranger", list: "members", of, bytes: 6000 },
      { by: "permitted", list: "joining", of, bytes: 32_000 },
      { by: "permitted", list: "members", of, bytes: 32_000 },
    ]),
    async send(shape) {
      if (permitted.isClosed) permitted = await openPermitted(server.port);
      const one = wordOf(shape, "by") === "stranger" ? stranger : permitted;
      const frame = one.frame(OpCode.RECONFIG, bodyOf(shape));
      await one.askAll([frame]);
      return { bytes: frame.length };
    },
    async [Symbol.asyncDispose]() {
      for (const one of [stranger, permitted]) await one[Symbol.asyncDispose]();
    },
  };
}

async function openPermitted(port: number): Promise<Attacker> {
  const opened = await Attacker.open({ port, timeoutMs: 40_000 });
  await opened.ask(OpCode.AUTH, auth("digest", SUPER_PASSWORD));
  return opened;
}

function bodyOf(shape: DoorShape): (writer: JuteWriter) => void {
  const text = listOf(wordOf(shape, "of"), sizeOf(shape, "bytes"));
  return (writer) => {
    for (const name of ["joining", "leaving", "members"]) {
      if (wordOf(shape, "list") === name) writer.text(text);
      else writer.null();
    }
    writer.long(-1, -1);
  };
}

function listOf(kind: string, bytes: number): string {
  const times = (text: string): string => text.repeat(Math.floor(bytes / text.length));
  switch (kind) {
    case "lines":
      return times("server.5=10.0.0.5:2888:3888:participant;2181\n");
    case "commas":
      return times(",");
    case "blanks":
      return `server.5=${times(" ")}x`;
    case "returns":
      return `server.5=${times(" \r")}x`;
    case "semicolons":
      return `server.5=a:1:2;${times(";")}`;
    case "digits":
      return `server.${times("5")}=a:1:2`;
    case "groups":
      return times("group.1=1:2:3\n");
    case "equals":
      return times("=");
    default:
      return times("a");
  }
}
