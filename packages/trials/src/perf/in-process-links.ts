import type { LinkRef, PeerMessage } from "@zooid/model";
import type { BroadcastMember } from "./broadcast-member.ts";

interface End {
  readonly to: BroadcastMember;
  readonly link: LinkRef;
}

/**
 * Links between members that share a thread: no socket and no bytes; a message arrives in a turn of
 * its own. Entries are copied, since the proposer uses their bytes again.
 */
export function joinInProcess(members: readonly BroadcastMember[]): void {
  const ends = new Map<LinkRef, End>();
  for (const member of members) {
    member.link({
      dial: (to) => {
        const other = members.find(({ sid }) => sid === to);
        if (other === undefined) throw new Error(`there is no server ${to}`);
        setImmediate(() => {
          const [here, there] = [ends.size + 1, ends.size + 2] as [LinkRef, LinkRef];
          ends.set(here, { to: other, link: there }).set(there, { to: member, link: here });
          const sid = member.peer.durable.identity.sid as Parameters<typeof other.peer.linkOpened>[1];
          other.input(() => other.peer.linkOpened(there, sid, false));
          member.input(() => member.peer.linkOpened(here, to, true));
        });
      },
      cancelDial: () => {},
      send: (link, message) => {
        const end = ends.get(link);
        const kept = copyOf(message);
        setImmediate(() => end?.to.receive(end.link, kept));
      },
      refuse: () => {
        throw new Error("no member refuses another");
      },
      close: () => {},
      flush: () => {},
      stop: () => Promise.resolve(),
    });
  }
}

function copyOf(message: PeerMessage): PeerMessage {
  if (message.kind !== "entries") return message;
  return {
    ...message,
    bytes: message.bytes.slice(message.start, message.end),
    start: 0,
    end: message.end - message.start,
  };
}
