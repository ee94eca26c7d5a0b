import type { JuteWriter } from "@zooid/wire";
import type { Target } from "./target.ts";

export interface Attack {
  readonly name: string;
  /** What it sends, for the table. */
  readonly sends: string;
  /** Default: one server. */
  readonly target?: "ensemble";
  /**
   * The server of an ensemble that it goes to, and whose other clients are looked at. Default: a
   * follower.
   */
  readonly at?: "leader";
  /** Further lines of zoo.cfg. @param folder where files that they name may stand */
  readonly settings?: (folder: string) => readonly string[];
  /** False where the attack itself leaves no quorum, so that no write can succeed. Default true. */
  readonly allowsWrites?: boolean;
  /**
   * Builds what the attack needs, before anything is measured. @returns the attack, which reports
   * what became of it
   */
  readonly prepare: (target: Target) => Promise<() => Promise<string>>;
}

export interface AclEntry {
  readonly permissions: number;
  readonly scheme: string;
  readonly id: string;
}

export const ANYONE: readonly AclEntry[] = [{ permissions: 31, scheme: "world", id: "anyone" }];

/** The body of a create with a list of one's own. */
export function createWith(path: string, acl: readonly AclEntry[], data = "", flags = 0): (writer: JuteWriter) => void {
  return (writer) => {
    writer.text(path);
    writer.text(data);
    writeAcl(writer, acl);
    writer.int(flags);
  };
}

export function writeAcl(writer: JuteWriter, acl: readonly AclEntry[]): void {
  writer.int(acl.length);
  for (const { permissions, scheme, id } of acl) {
    writer.int(permissions);
    writer.text(scheme);
    writer.text(id);
  }
}

/** Answers by code, for the table. */
export function codesText(codes: ReadonlyMap<number, number>): string {
  const parts = [...codes].sort(([a], [b]) => b - a).map(([code, count]) => `${count} × ${code}`);
  return parts.length === 0 ? "no answer" : parts.join(", ");
}

export function range<T>(count: number, make: (index: number) => T): T[] {
  return Array.from({ length: count }, (_, index) => make(index));
}

export function chunks<T>(values: readonly T[], size: number): (readonly T[])[] {
  return range(Math.ceil(values.length / size), (i) => values.slice(i * size, (i + 1) * size));
}
