import { ZXID_NONE } from "@zooid/model";
import { type FieldReader, type Filling, type MessageOf, NO_BYTES, place, SERVER_0 } from "./peer-field-reader.ts";
import { RelayBytesTag, RelayCloseTag, RelayOpenTag, RelayRunTag, RelayToTag } from "./peer-fields.ts";

/** Reads what makes a follower stand between an observer and the leader; see {@link decodeEnvelope}. */

export function relayTo(reader: FieldReader): MessageOf<"relay-to"> {
  let leader = SERVER_0;
  for (let tag = reader.tag(); tag !== 0; tag = reader.tag()) {
    if (tag === RelayToTag.leader) leader = reader.serverId();
    else reader.skip(tag);
  }
  return { kind: "relay-to", leader };
}

export function relayOpen(reader: FieldReader): MessageOf<"relay-open"> {
  let channel = 0;
  let sid = SERVER_0;
  for (let tag = reader.tag(); tag !== 0; tag = reader.tag()) {
    if (tag === RelayOpenTag.channel) channel = reader.varint();
    else if (tag === RelayOpenTag.sid) sid = reader.serverId();
    else reader.skip(tag);
  }
  return { kind: "relay-open", channel, sid };
}

export function relayClose(reader: FieldReader): MessageOf<"relay-close"> {
  const message: Filling<MessageOf<"relay-close">> = { kind: "relay-close", channel: 0, text: "" };
  for (let tag = reader.tag(); tag !== 0; tag = reader.tag()) {
    if (tag === RelayCloseTag.channel) message.channel = reader.varint();
    else if (tag === RelayCloseTag.text) message.text = reader.text();
    else reader.skip(tag);
  }
  return message;
}

export function relayBytes(reader: FieldReader): MessageOf<"relay-bytes"> {
  const message: Filling<MessageOf<"relay-bytes">> = {
    ...{ kind: "relay-bytes", channel: 0, bytes: NO_BYTES, start: 0, end: 0 },
  };
  for (let tag = reader.tag(); tag !== 0; tag = reader.tag()) {
    if (tag === RelayBytesTag.channel) message.channel = reader.varint();
    else if (tag === RelayBytesTag.data) place(message, reader);
    else reader.skip(tag);
  }
  return message;
}

export function relayRun(reader: FieldReader): MessageOf<"relay-run"> {
  const message: Filling<MessageOf<"relay-run">> = {
    ...{ kind: "relay-run", channel: 0, epoch: 0, previous: ZXID_NONE, first: ZXID_NONE, last: ZXID_NONE, count: 0 },
    ...{ committed: ZXID_NONE, round: 0 },
  };
  for (let tag = reader.tag(); tag !== 0; tag = reader.tag()) {
    switch (tag) {
      case RelayRunTag.channel:
        message.channel = reader.varint();
        break;
      case RelayRunTag.epoch:
        message.epoch = reader.varint();
        break;
      case RelayRunTag.previous:
        message.previous = reader.zxid();
        break;
      case RelayRunTag.first:
        message.first = reader.zxid();
        break;
      case RelayRunTag.last:
        message.last = reader.zxid();
        break;
      case RelayRunTag.count:
        message.count = reader.varint();
        break;
      case RelayRunTag.committed:
        message.committed = reader.zxid();
        break;
      case RelayRunTag.round:
        message.round = reader.varint();
        break;
      default:
        reader.skip(tag);
    }
  }
  return message;
}
