/** Compares what a restarted server holds with what its writers may expect, and tells which of their steps happened. */
import type { FolderWriter } from "./folder-writer.ts";
import { SESSION_TIMEOUT_MS } from "./folder-writer.ts";
import {
  type Bounds,
  explanations,
  type FolderState,
  type FoundFolder,
  hex,
  type Node,
  stateAfter,
} from "./owned-folder.ts";
import { JuteReader, JuteWriter, NO_NODE, OPCODE, RawSession, SessionRefused } from "./raw-session.ts";

export interface AuditOptions {
  readonly port: number;
  readonly writers: readonly FolderWriter[];
  readonly boundsOf: (writer: FolderWriter) => Bounds;
}

export interface Finding {
  /** For each writer, how many of its steps happened. */
  readonly lengths: ReadonlyMap<FolderWriter, number>;
  readonly faults: readonly string[];
}

export async function audit({ port, writers, boundsOf }: AuditOptions): Promise<Finding> {
  const lengths = new Map<FolderWriter, number>();
  const faults: string[] = [];
  const auditor = await RawSession.open({ port, timeoutMs: SESSION_TIMEOUT_MS });
  for (const writer of writers) {
    const bounds = boundsOf(writer);
    const found = await readFolder(auditor, writer.path);
    const candidates = explanations(writer.steps, found, bounds);
    const length = await firstWithItsSession(writer, candidates, port);
    if (length !== undefined) lengths.set(writer, length);
    else faults.push(describeFault(writer, { bounds, found, candidates }));
  }
  faults.push(...(await zxidFaults(auditor, { writers, boundsOf })));
  await auditor.ask(OPCODE.close, Buffer.alloc(0));
  await auditor.abandon();
  return { lengths, faults };
}

/** Among prefixes that leave the same nodes, the one whose session is as open or as gone as the server says. */
async function firstWithItsSession(
  writer: FolderWriter,
  candidates: readonly number[],
  port: number,
): Promise<number | undefined> {
  const known = new Map<bigint, boolean>();
  for (const length of candidates) {
    const before = stateAfter(writer.steps, length);
    const session = before.session ?? lastClosedSession(writer, length);
    if (session === undefined) return length;
    const isOpen = known.get(session.id) ?? (await isResumable(session, port));
    known.set(session.id, isOpen);
    if (isOpen === (before.session !== undefined)) return length;
  }
  return undefined;
}

function lastClosedSession(writer: FolderWriter, length: number): FolderState["session"] {
  return writer.steps.slice(0, length).findLast(({ session }) => session !== undefined)?.session;
}

async function isResumable(resume: NonNullable<FolderState["session"]>, port: number): Promise<boolean> {
  try {
    const session = await RawSession.open({ port, timeoutMs: SESSION_TIMEOUT_MS, resume });
    await session.abandon();
    return true;
  } catch (error) {
    if (error instanceof SessionRefused) return false;
    throw error;
  }
}

/** The children of a folder with their data and owners; undefined where there is no such folder. */
async function readFolder(session: RawSession, path: string): Promise<FoundFolder | undefined> {
  const listing = await session.ask(OPCODE.getChildren, new JuteWriter().string(path).bool(false).bytes());
  if (listing.error === NO_NODE) return undefined;
  if (listing.error !== 0) throw new Error(`listing ${path} failed with ${listing.error}`);
  const reader = new JuteReader(listing.body);
  const names = Array.from({ length: reader.int() }, () => reader.string());
  const nodes = await Promise.all(
    names.map(async (name) => [name, await readNode(session, `${path}/${name}`)] as const),
  );
  return new Map(nodes);
}

async function readNode(session: RawSession, path: string): Promise<Node> {
  const { error, body } = await session.ask(OPCODE.getData, new JuteWriter().string(path).bool(false).bytes());
  if (error !== 0) throw new Error(`reading ${path} failed with ${error}`);
  const reader = new JuteReader(body);
  const value = reader.string();
  reader.skip(4 * 8 + 3 * 4);
  return { value, owner: reader.long() };
}

/** A new write must stand after everything that was answered. */
async function zxidFaults(
  auditor: RawSession,
  { writers, boundsOf }: Pick<AuditOptions, "writers" | "boundsOf">,
): Promise<readonly string[]> {
  const answered = writers.flatMap((writer) => writer.steps.slice(0, boundsOf(writer).answered));
  const highest = answered.reduce((high, { zxid = 0n }) => (zxid > high ? zxid : high), 0n);
  const probe = new JuteWriter().string("/").buffer(Buffer.alloc(0)).int(-1).bytes();
  const { zxid, error } = await auditor.ask(OPCODE.setData, probe);
  if (error !== 0) return [`a write after the restart was refused with ${error}`];
  return zxid > highest ? [] : [`a new write has zxid ${hex(zxid)}, not above ${hex(highest)} which was answered`];
}

interface Evidence {
  readonly bounds: Bounds;
  readonly found: FoundFolder | undefined;
  readonly candidates: readonly number[];
}

function describeFault(writer: FolderWriter, { bounds, found, candidates }: Evidence): string {
  const range = `${bounds.answered} answered, ${bounds.sent} sent`;
  const expected = stateAfter(writer.steps, bounds.answered);
  if (candidates.length > 0) {
    const session = expected.session === undefined ? "none" : hex(expected.session.id);
    return `${writer.path} (${range}): nodes are right, but the session is not (expected ${session})`;
  }
  return `${writer.path} (${range}): ${expected.differenceFrom(found) ?? "no prefix of the requests explains what is there"}`;
}
