/**
 * Names of nodes whose data is shown on request only. A help against onlookers: the access list
 * decides who may read.
 */
const SECRET = /(^|[^a-z])(password|passwd|pwd|secret|token|credentials?|private[-_.]?key|api[-_.]?key)([^a-z]|$)/i;

export function looksSecret(path: string): boolean {
  const name = path.slice(path.lastIndexOf("/") + 1);
  return SECRET.test(name.replace(/([a-z])([A-Z])/g, "$1-$2"));
}
