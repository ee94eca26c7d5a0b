import { newRequest, OpCode, type Request, type RequestDecoder } from "@zooid/model";

/** Every part of a multi is read into it: one is looked at at a time. */
const part = newRequest();

/**
 * Whether a write adds data, so that it needs room on the disk: it creates or replaces something.
 * Deletes, checks and the ends of sessions free room, or promise nothing that takes any.
 *
 * @param requests has opened the request and read its body; of a multi it stands before the parts
 *   again afterwards
 */
export function addsData({ op }: Readonly<Request>, requests: RequestDecoder): boolean {
  if (op !== OpCode.MULTI) return isAddition(op);
  let adds = false;
  try {
    while (!adds && requests.nextPart(part)) adds = isAddition(part.op);
  } catch {
    // The proposer refuses an unreadable multi.
  }
  requests.rewindParts();
  return adds;
}

function isAddition(op: number): boolean {
  switch (op) {
    case OpCode.CREATE:
    case OpCode.CREATE2:
    case OpCode.CREATE_CONTAINER:
    case OpCode.CREATE_TTL:
    case OpCode.SET_DATA:
    case OpCode.SET_ACL:
      return true;
    default:
      return false;
  }
}
