import { countValue, pathValue, textValue, trueOrFalseValue } from "../key-values.ts";
import { type KeyEntry, part } from "./key-rule.ts";

/** The Apache ensemble that `zooid-server follow` follows, and how it is linked to it. */
export const FOLLOW_KEYS: readonly KeyEntry[] = [
  ["zooid.follow", part("follow", "hosts", textValue)],
  ["zooid.follow.sid", part("follow", "sid", countValue)],
  ["zooid.follow.spoolMemoryBytesMax", part("follow", "spoolMemoryBytesMax", countValue)],
  ["zooid.follow.spoolBytesMax", part("follow", "spoolBytesMax", countValue)],
  ["zooid.follow.packetBytesMax", part("follow", "packetBytesMax", countValue)],
  ["zooid.follow.initTimeoutMs", part("follow", "initTimeoutMs", countValue)],
  ["zooid.follow.syncTimeoutMs", part("follow", "syncTimeoutMs", countValue)],
  ["zooid.follow.tlsKeyFile", part("follow", "tlsKeyFile", pathValue)],
  ["zooid.follow.tlsCertFile", part("follow", "tlsCertFile", pathValue)],
  ["zooid.follow.tlsCaFile", part("follow", "tlsCaFile", pathValue)],
  ["zooid.follow.tlsChecksHost", part("follow", "tlsChecksHost", trueOrFalseValue)],
  ["zooid.follow.user", part("follow", "user", textValue)],
  ["zooid.follow.passwordFile", part("follow", "passwordFile", pathValue)],
];
