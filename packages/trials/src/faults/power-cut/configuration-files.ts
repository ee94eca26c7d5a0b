import { parseConfigFile } from "zooid-server/internal/configuration/config-file";

/**
 * The servers that a start finds in a zoo.cfg and the file that it names, with the version in that
 * file's name.
 *
 * @throws where a start is refused
 */
export function membersInForce(file: string, read: (name: string) => string): string {
  const { ensemble, membersVersion } = parseConfigFile(read(file), read);
  return `${[...ensemble.servers.keys()].join()} of version ${membersVersion ?? "none"}`;
}
