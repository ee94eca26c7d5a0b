/** Packets of a leader of Apache's, for tests. */
import { type Acl, OPEN_ACL } from "@zooid/model";
import { field, int, long } from "@zooid/wire/apache";
import { ApacheType, recordOf, transaction } from "@zooid/wire/testing/apache-transactions";
import { PacketType, PROTOCOL_VERSION } from "../core/quorum-packet.ts";
import { SNAPSHOT_SIGNATURE } from "../core/snapshot-stream.ts";

export const SERVERS = "server.1=a:2888:3888:participant\nserver.2=b:2888:3888:participant\nversion=0";

export function zxidAt(epoch: number, counter: number): bigint {
  return (BigInt(epoch) << 32n) | BigInt(counter);
}

export function packet(type: number, zxid: bigint, data: Buffer | null = null): Buffer {
  return Buffer.concat([int(type), long(zxid), field(data), int(-1)]);
}

/** A write of `/a`, as it is logged. */
export function write(zxid: bigint, data = "x"): Buffer {
  return transaction({ zxid, type: ApacheType.SET_DATA, record: recordOf.set("/a", data, 1), digest: zxid });
}

export const leader = {
  info: (epoch: number): Buffer => packet(PacketType.LEADERINFO, zxidAt(epoch, 0), int(PROTOCOL_VERSION)),
  diff: (zxid: bigint): Buffer => packet(PacketType.DIFF, zxid),
  trunc: (zxid: bigint): Buffer => packet(PacketType.TRUNC, zxid),
  snap: (zxid: bigint): Buffer => packet(PacketType.SNAP, zxid),
  proposal: (zxid: bigint): Buffer => packet(PacketType.PROPOSAL, zxid, write(zxid)),
  commit: (zxid: bigint): Buffer => packet(PacketType.COMMIT, zxid),
  inform: (zxid: bigint, data?: string): Buffer => packet(PacketType.INFORM, zxid, write(zxid, data)),
  activate: (zxid: bigint): Buffer =>
    packet(PacketType.INFORMANDACTIVATE, zxid, Buffer.concat([long(1n), write(zxid)])),
  newLeader: (epoch: number, servers: string = SERVERS): Buffer =>
    packet(PacketType.NEWLEADER, zxidAt(epoch, 0), Buffer.from(servers)),
  upToDate: (): Buffer => packet(PacketType.UPTODATE, -1n),
  ping: (zxid: bigint): Buffer => packet(PacketType.PING, zxid),
  synced: (): Buffer => packet(PacketType.SYNC, 0n),
};

export interface SnapshotOptions {
  readonly sessions?: readonly (readonly [id: bigint, timeoutMs: number])[];
  readonly lists?: readonly (readonly [key: bigint, acl: Acl])[];
  readonly nodes?: readonly (readonly [path: string, data: string | null, stat?: Buffer, aclKey?: bigint])[];
}

/** A snapshot as it stands in a link. */
export function snapshot({
  sessions = [[7n, 4000]],
  lists = [[1n, OPEN_ACL]],
  nodes = [
    ["", ""],
    ["/a", "data"],
  ],
}: SnapshotOptions = {}): Buffer {
  return Buffer.concat([
    int(sessions.length),
    ...sessions.flatMap(([id, timeoutMs]) => [long(id), int(timeoutMs)]),
    int(lists.length),
    ...lists.flatMap(([key, acl]) => [
      long(key),
      int(acl.length),
      ...acl.flatMap(({ perms, scheme, id }) => [int(perms), field(Buffer.from(scheme)), field(Buffer.from(id))]),
    ]),
    ...nodes.flatMap(([path, data, stat = Buffer.alloc(60), aclKey = 1n]) => [
      field(Buffer.from(path)),
      field(data === null ? null : Buffer.from(data)),
      long(aclKey),
      stat,
    ]),
    field(Buffer.from("/")),
    SNAPSHOT_SIGNATURE,
  ]);
}
