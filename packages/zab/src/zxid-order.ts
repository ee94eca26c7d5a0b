import type { Zxid } from "@zooid/model";

export function earlierOf(a: Zxid, b: Zxid): Zxid {
  return a < b ? a : b;
}

export function laterOf(a: Zxid, b: Zxid): Zxid {
  return a > b ? a : b;
}
