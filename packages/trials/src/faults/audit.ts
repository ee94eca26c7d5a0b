/**
 * Compares the data of a restarted server with the expectations of its writers, and returns the
 * steps that happened.
 */

import { JuteReader } from "@zooid/conformance/internal/jute";
import { OP, read, setData } from "@zooid/conformance/internal/wire";
import { SESSION_TIMEOUT_MS } from "./folder-writer.ts";
import {
  type Book,
  type Bounds,
  boundsAt,
  explanations,
  type FolderState,
  type FoundFolder,
  hex,
  type Node,
  stateAfter,
} from "./owned-folder.ts";
import { NO_NODE, nodeOf, RawSession, SessionRefused } from "./raw-session.ts";

/** Where a Stat's three versions begin: behind two zxids and two times. */
const STAT_VERSION_AT = 4 * 8;

export interface AuditOptions {
  readonly port: number;
  readonly books: readonly Book[];
  /** The end of the time: a write answered by then must be there; one sent after then cannot be. */
  readonly moment: bigint;
}

export interface Finding {
  /** For each path, how many steps of its book happened. */
  readonly lengths: ReadonlyMap<string, number>;
  readonly faults: readonly string[];
}

export async function audit({ port, books, moment }: AuditOptions): Promise<Finding> {
  const lengths = new Map<string, number>();
  const faults: string[] = [];
  const auditor = await RawSession.open({ port, timeoutMs: SESSION_TIMEOUT_MS });
  for (const book of books) {
    const bounds = boundsAt(book.steps, moment);
    const found = await readFolder(auditor, book.path);
    const candidates = explanations(book, found, bounds);
    const length = await firstWithItsSession(candidates, port);
    if (length !== undefined) lengths.set(book.path, length);
    else faults.push(describeFault(book, { bounds, found, candidates }));
  }
  faults.push(...(await zxidFaults(auditor, { books, moment })));
  await auditor.end();
  return { lengths, faults };
}

/**
 * Among prefixes that leave the same nodes, the one whose session is as open or as gone as the
 * server says.
 */
async function firstWithItsSession(
  candidates: ReadonlyMap<number, FolderState>,
  port: number,
): Promise<number | undefined> {
  const known = new Map<bigint, boolean>();
  for (const [length, state] of candidates) {
    const session = state.session ?? state.closedSession;
    if (session === undefined) return length;
    const isOpen = known.get(session.id) ?? (await isResumable(session, port));
    known.set(session.id, isOpen);
    if (isOpen === (state.session !== undefined)) return length;
  }
  return undefined;
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
  const listing = await session.ask(OP.getChildren2, read(path));
  if (listing.error === NO_NODE) return undefined;
  if (listing.error !== 0) throw new Error(`listing ${path} failed with ${listing.error}`);
  const reader = new JuteReader(listing.body);
  const names = Array.from({ length: reader.int() }, () => reader.string());
  reader.skip(STAT_VERSION_AT + 4);
  // The protocol's cversion counts a creation twice and takes away one for each child that is
  // there.
  const createdCount = (reader.int() + names.length) / 2;
  const nodes = await Promise.all(
    names.map(async (name) => [name, await readNode(session, `${path}/${name}`)] as const),
  );
  return { nodes: new Map(nodes), createdCount };
}

async function readNode(session: RawSession, path: string): Promise<Node> {
  const { error, body } = await session.ask(OP.getData, read(path));
  if (error !== 0) throw new Error(`reading ${path} failed with ${error}`);
  return nodeOf(body);
}

/** A new write must stand after everything that was answered. */
async function zxidFaults(
  auditor: RawSession,
  { books, moment }: Pick<AuditOptions, "books" | "moment">,
): Promise<readonly string[]> {
  const { zxid, error } = await auditor.ask(OP.setData, setData("/", ""));
  if (error !== 0) return [`a write after the restart was refused with ${error}`];
  const higher = books
    .map((book) => stateAfter(book, boundsAt(book.steps, moment).answered).highestZxid)
    .find((highest) => highest >= zxid);
  return higher === undefined ? [] : [`a new write has zxid ${hex(zxid)}, not above ${hex(higher)} which was answered`];
}

interface Evidence {
  readonly bounds: Bounds;
  readonly found: FoundFolder | undefined;
  readonly candidates: ReadonlyMap<number, FolderState>;
}

function describeFault(book: Book, { bounds, found, candidates }: Evidence): string {
  const range = `${bounds.answered} answered, ${bounds.sent} sent`;
  const expected = stateAfter(book, bounds.answered);
  if (candidates.size > 0) {
    const session = expected.session === undefined ? "none" : hex(expected.session.id);
    return `${book.path} (${range}): nodes are right, but the session is not (expected ${session})`;
  }
  return `${book.path} (${range}): ${expected.differenceFrom(found) ?? "no prefix of the requests explains what is there"}`;
}
