import { parseServerLine } from "@zooid/model";
import { type Finding, finding } from "../finding.ts";
import { placeOf, type ServerSettings, type Setting, settingOf } from "./settings.ts";

/** Settings that belong to the ensemble. */
const SHARED: readonly string[] = [
  "tickTime",
  "initLimit",
  "syncLimit",
  "minSessionTimeout",
  "maxSessionTimeout",
  "jute.maxbuffer",
  "reconfigEnabled",
  "extendedTypesEnabled",
  "enforceQuota",
  "localSessionsEnabled",
  "localSessionsUpgradingEnabled",
  "zooid.multiPartsMax",
  "sslQuorum",
];

/** Settings that differ between the members' files though they should be the same in all. */
export function differenceFindings(files: readonly ServerSettings[]): readonly Finding[] {
  return [...listDifferences(files), ...SHARED.flatMap((key) => settingDifference(files, key))];
}

/**
 * Files without lines of servers have their list in a dynamic file. Where clients change the
 * members, the configuration in force is kept with the data, and a file has the list of when it was
 * written.
 */
function listDifferences(files: readonly ServerSettings[]): readonly Finding[] {
  const deciding = files.filter((file) => settingOf(file, "reconfigEnabled")?.value.trim().toLowerCase() !== "true");
  const lists = deciding.map((file) => ({ file, list: listOf(file) })).filter(({ list }) => list !== "");
  const groups = Map.groupBy(lists, ({ list }) => list);
  if (groups.size < 2) return [];
  const [most = ""] = [...groups].toSorted(([, a], [, b]) => b.length - a.length)[0] ?? [];
  return lists
    .filter(({ list }) => list !== most)
    .map(({ file, list }) =>
      finding(
        "lists-differ",
        file.subject,
        `it lists the servers ${list}, and ${subjectsText(groups.get(most)?.map((other) => other.file) ?? [])} the servers ${most}`,
        "write the same lines server.N into the file of each member, and restart one member after another",
      ),
    );
}

/** `1, 2, 4 (observer)`: ids and roles. Addresses may be a matter of the machine. */
function listOf({ settings }: ServerSettings): string {
  const servers = new Map<number, string>();
  for (const { key, value } of settings) {
    const [, sid] = /^server\.(\d{1,19})$/.exec(key) ?? [];
    if (sid === undefined) continue;
    const line = parseServerLine(value);
    servers.set(Number(sid), typeof line === "object" && line.isObserver ? `${sid} (observer)` : sid);
  }
  return [...servers]
    .toSorted(([a], [b]) => a - b)
    .map(([, text]) => text)
    .join(", ");
}

function settingDifference(files: readonly ServerSettings[], key: string): readonly Finding[] {
  const found = files.map((file) => ({ file, setting: settingOf(file, key) }));
  const values = Map.groupBy(found, ({ setting }) => setting?.value.trim().toLowerCase());
  if (values.size < 2) return [];
  const parts = [...values].map(([, those]) => {
    const value = those[0]?.setting?.value;
    const places = those.map(({ file, setting }) => placed(file, setting)).join(", ");
    return value === undefined ? `not set in ${places}` : `${value} in ${places}`;
  });
  return [
    finding(
      "limits-differ",
      key,
      `${key} is ${parts.join(" and ")}`,
      `write the same ${key} into the file of each member`,
    ),
  ];
}

function placed(file: ServerSettings, setting: Setting | undefined): string {
  return setting === undefined ? file.subject : placeOf(file, setting);
}

function subjectsText(files: readonly ServerSettings[]): string {
  const texts = files.map(({ subject }) => subject);
  return texts.length < 2 ? texts.join() : `${texts.slice(0, -1).join(", ")} and ${texts.at(-1)}`;
}
