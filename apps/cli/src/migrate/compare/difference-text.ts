/** Differences field by field, as people and programs read them. */
import { formatSessionId, formatZxid, type SessionId, type Zxid } from "@zooid/model";
import type { JsonObject } from "../../output.ts";
import { dataJson } from "../../texts/data-text.ts";
import { shownText, textOf } from "../../texts/shown-text.ts";
import type { NodeDifference } from "./compare-sides.ts";
import type { Part } from "./judge.ts";
import type { DataState, NodeState } from "./node-state.ts";

export interface DifferentField {
  readonly field: string;
  readonly atServer: string;
  readonly atOther: string;
}

type Field = readonly [name: string, value: (state: NodeState) => string];

const zxid = (value: number): string => formatZxid(value as Zxid);

const FIELDS: Readonly<Record<Exclude<Part, "node">, readonly Field[]>> = {
  birth: [
    ["ctime", ({ ctimeMs }) => String(ctimeMs)],
    ["ephemeralOwner", ({ owner }) => formatSessionId(owner as SessionId)],
  ],
  data: [
    ["version", ({ version }) => String(version)],
    ["mzxid", ({ mzxid }) => zxid(mzxid)],
    ["mtime", ({ mtimeMs }) => String(mtimeMs)],
    ["data", ({ data }) => dataText(data)],
  ],
  acl: [
    ["aversion", ({ aversion }) => String(aversion)],
    ["acl", ({ acl }) => acl ?? "not shown"],
  ],
  children: [
    ["pzxid", ({ pzxid }) => zxid(pzxid)],
    // As a snapshot has it: the number of children ever created.
    ["cversion", ({ creates }) => String(creates / 2)],
  ],
};

/** The fields that differ, with both values. */
export function differentFields({ parts, atServer, atOther }: NodeDifference): readonly DifferentField[] {
  if (atServer === "absent" || atOther === "absent" || parts.includes("node")) {
    return [{ field: "node", atServer: presence(atServer), atOther: presence(atOther) }];
  }
  return parts.flatMap((part) =>
    part === "node"
      ? []
      : FIELDS[part]
          .map(([field, value]) => ({ field, atServer: value(atServer), atOther: value(atOther) }))
          .filter((field) => field.atServer !== field.atOther),
  );
}

function presence(state: NodeState | "absent"): string {
  return state === "absent" ? "absent" : `created by ${zxid(state.czxid)}`;
}

function dataText({ byteCount, sha256 }: DataState): string {
  return byteCount === -1 ? "null" : `${byteCount} bytes, SHA-256 ${sha256}`;
}

/** Lines of one difference: the node, then each field. */
export function differenceLines(difference: NodeDifference, other: string): readonly string[] {
  const { path, server } = difference;
  const fields = differentFields(difference).map(
    ({ field, atServer, atOther }) =>
      `  ${field}: ${shownText(atServer)} at ${server}, ${shownText(atOther)} at ${other}`,
  );
  return [`! ${shownText(path)}`, ...fields, ...shownData(difference, other)];
}

/** The data themselves, where they were kept and are text. */
function shownData({ parts, atServer, atOther, server }: NodeDifference, other: string): readonly string[] {
  if (!parts.includes("data") || atServer === "absent" || atOther === "absent") return [];
  return [[atServer, server] as const, [atOther, other] as const].flatMap(([{ data }, name]) => {
    if (data.bytes === undefined) return [];
    const text = textOf(data.bytes);
    return [text === undefined ? `  ${name} has data that are no text` : `  ${name} has ${shownText(text)}`];
  });
}

export function differenceJson(difference: NodeDifference): JsonObject {
  const { path, server, atServer, atOther } = difference;
  return {
    path,
    server,
    fields: differentFields(difference).map((field) => ({ ...field })),
    ...(keptJson("dataAtServer", atServer) ?? {}),
    ...(keptJson("dataAtOther", atOther) ?? {}),
  };
}

function keptJson(name: string, state: NodeState | "absent"): JsonObject | undefined {
  const bytes = state === "absent" ? undefined : state.data.bytes;
  return bytes === undefined ? undefined : { [name]: dataJson(bytes) };
}
