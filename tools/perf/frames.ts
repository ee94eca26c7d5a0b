/** The few packets of ZooKeeper's client port that the measurements send. */

/** Puts a body's length in front of it. */
export function frame(body: Buffer): Buffer {
  return Buffer.concat([int(body.length), body]);
}

/** A whole frame that asks for a new session. */
export function connectRequest(): Buffer {
  return frame(Buffer.concat([int(0), Buffer.alloc(8), int(30_000), Buffer.alloc(8), int(16), Buffer.alloc(17)]));
}

export interface CreateOptions {
  readonly xid: number;
  readonly path: string;
  readonly dataBytes: number;
  /** 0 persistent, 2 persistent sequential. */
  readonly flags: number;
}

export function createRequest({ xid, path, dataBytes, flags }: CreateOptions): Buffer {
  const acl = Buffer.concat([int(1), int(31), text("world"), text("anyone")]);
  const data = Buffer.alloc(dataBytes, 1);
  return Buffer.concat([int(xid), int(1), text(path), int(dataBytes), data, acl, int(flags)]);
}

export function getData(path: string): Buffer {
  return Buffer.concat([int(2), int(4), text(path), Buffer.alloc(1)]);
}

function int(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(value);
  return bytes;
}

function text(value: string): Buffer {
  const bytes = Buffer.from(value);
  return Buffer.concat([int(bytes.length), bytes]);
}
