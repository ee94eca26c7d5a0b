import { formatZxid, type PeerMessage, type Zxid } from "@zooid/model";

/** A message as transcripts show it. */
export function describeMessage(message: PeerMessage): string {
  const zxid = (value: number): string => formatZxid(value as Zxid);
  switch (message.kind) {
    case "leader-info":
      return `leader-info epoch ${message.epoch}`;
    case "ack-epoch":
      return `ack-epoch of a log to ${zxid(message.logged.zxid)} in epoch ${message.currentEpoch}`;
    case "sync-begin":
      return `sync-begin ${message.mode} from ${zxid(message.from.zxid)}`;
    case "entries":
      return `entries ${zxid(message.first)} to ${zxid(message.last)}`;
    case "new-leader":
    case "ack-new-leader":
      return `${message.kind} epoch ${message.epoch} through ${zxid(message.through)}`;
    case "up-to-date":
    case "commit":
      return `${message.kind} ${zxid(message.committed)}`;
    case "ack":
      return `ack ${zxid(message.durable)}`;
    case "leadership-transfer":
      return `leadership-transfer to s${message.successor}`;
    case "refuse":
      return `refuse ${message.reason}`;
    default:
      return message.kind;
  }
}
