/** A line of zoo.cfg, `server.1=host:2888:3888`. */
export type ServerSetting = readonly [key: string, value: string];

/** The members that each image lists in its own way; a text says what is wrong. */
export function serverList(name: string, text: string): readonly ServerSetting[] | string {
  if (name === "ZOOKEEPER_SERVERS") return numbered(text.split(";"));
  if (/\bserver\.\d+=/.test(text)) return named(text.split(/\s+/));
  return numbered(text.split(/[,;\s]+/));
}

/** The official image's form: whole lines, of groups and weights too. */
function named(entries: readonly string[]): readonly ServerSetting[] | string {
  const settings: ServerSetting[] = [];
  for (const entry of entries.filter((one) => one !== "")) {
    const match = /^((?:server|group|weight)\.\d+)=(.+)$/.exec(entry);
    if (match === null) return `lists server.N=host:2888:3888;2181, found "${entry}"`;
    settings.push([match[1] ?? "", match[2] ?? ""]);
  }
  return settings;
}

/** Bitnami's form, with a number behind `::`, and Confluent's: without one they count from 1. */
function numbered(entries: readonly string[]): readonly ServerSetting[] | string {
  const settings: ServerSetting[] = [];
  for (const entry of entries.map((one) => one.trim()).filter((one) => one !== "")) {
    const match = /^(.+?:\d+:\d+(?::\w+)?)(?:::(\d+))?$/.exec(entry);
    if (match === null) return `lists host:2888:3888, found "${entry}"`;
    settings.push([`server.${match[2] ?? settings.length + 1}`, match[1] ?? ""]);
  }
  return settings;
}

/** Whether a member is on another machine, where it has to prove who it is. */
export function isBeyondLoopback([, value]: ServerSetting): boolean {
  return !/^(?:localhost|127(?:\.\d+){3}|\[::1\]):/.test(value);
}
