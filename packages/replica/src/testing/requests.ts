import { type AclEntry, type ConnectionRef, ZXID_NONE } from "@zooid/model";
import { JuteWriter } from "@zooid/wire";
import type { Replica } from "../replica.ts";

/** Writes the body of a request. */
export type Body = (writer: JuteWriter) => void;

/**
 * Sends a request to a replica as a frame; false when the connection is to be read no further. As a
 * socket's buffer, the bytes are lent for the call: they are overwritten afterwards, and a `slice`
 * of them is no copy.
 */
export function sendRequest(replica: Replica, ref: ConnectionRef, xid: number, op: number, body: Body): boolean {
  const writer = new JuteWriter();
  writer.int(xid);
  writer.int(op);
  body(writer);
  const lent = Buffer.from(writer.bytes.subarray(0, writer.end));
  const mayGoOn = replica.request(ref, lent, 0, lent.length);
  lent.fill(0xff);
  return mayGoOn;
}

const OPEN: readonly AclEntry[] = [{ perms: 31, scheme: "world", id: "anyone" }];

export function create(path: string, data = "", flags = 0, acl: readonly AclEntry[] = OPEN): Body {
  return (writer) => {
    writer.text(path);
    writer.text(data);
    writeAcl(writer, acl);
    writer.int(flags);
  };
}

/** As a request for createTTL. */
export function createTtl(path: string, ttlMs: number, flags = 5): Body {
  return (writer) => {
    create(path, "", flags)(writer);
    writer.zxid(ttlMs);
  };
}

export function setAcl(path: string, acl: readonly AclEntry[], version = -1): Body {
  return (writer) => {
    writer.text(path);
    writeAcl(writer, acl);
    writer.int(version);
  };
}

export function setData(path: string, data: string, version = -1): Body {
  return (writer) => {
    writer.text(path);
    writer.text(data);
    writer.int(version);
  };
}

export function read(path: string, watch = false): Body {
  return (writer) => {
    writer.text(path);
    writer.bool(watch);
  };
}

export function onPath(path: string): Body {
  return (writer) => writer.text(path);
}

/** The protocol's null string, and a number that may follow it. */
export function onNoPath(number = 0): Body {
  return (writer) => {
    writer.int(-1);
    writer.int(number);
  };
}

/** A mode for addWatch, a type for checkWatches and removeWatches. */
export function watchOn(path: string, mode: number): Body {
  return (writer) => {
    writer.text(path);
    writer.int(mode);
  };
}

/** setWatches with data watches, as a client sends it that has seen nothing. */
export function setWatches(...paths: string[]): Body {
  return (writer) => {
    writer.zxid(ZXID_NONE);
    writer.int(0);
    writer.int(paths.length);
    for (const path of paths) writer.text(path);
    writer.int(0);
  };
}

export function versioned(path: string, version = -1): Body {
  return (writer) => {
    writer.text(path);
    writer.int(version);
  };
}

export function multi(...parts: readonly (readonly [op: number, body: Body])[]): Body {
  const header = (writer: JuteWriter, op: number, done: boolean): void => {
    writer.int(op);
    writer.bool(done);
    writer.int(-1);
  };
  return (writer) => {
    for (const [op, body] of parts) {
      header(writer, op, false);
      body(writer);
    }
    header(writer, -1, true);
  };
}

function writeAcl(writer: JuteWriter, acl: readonly AclEntry[]): void {
  writer.int(acl.length);
  for (const { perms, scheme, id } of acl) {
    writer.int(perms);
    writer.text(scheme);
    writer.text(id);
  }
}

/** A request for a page of children: names (`detail` 0), with Stats (1) or data (2). */
export function pageAfter(path: string, after: string | null, countMax = 1000, detail = 0): Body {
  return (writer) => {
    writer.text(path);
    if (after === null) writer.null();
    else writer.text(after);
    writer.int(countMax);
    writer.int(detail);
  };
}

/** A change of the ensemble's configuration; null is the protocol's null string. */
export function reconfig(
  joining: string | null,
  leaving: string | null = null,
  members: string | null = null,
  fromVersion = -1,
): Body {
  return (writer) => {
    for (const text of [joining, leaving, members]) {
      if (text === null) writer.null();
      else writer.text(text);
    }
    writer.zxid(fromVersion);
  };
}
