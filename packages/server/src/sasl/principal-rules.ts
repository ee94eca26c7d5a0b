/**
 * Rules that give principals short names, as `security.auth_to_local` lists them, in the syntax of
 * Hadoop and ZooKeeper. The first rule that applies decides:
 *
 * ```
 *   RULE:[2:$1@$0](hbase@EXAMPLE\.COM)s/@.+//     hbase/node1@EXAMPLE.COM  →  hbase
 *         │ │      │                   │ └ a part of the text is replaced; /g: every one, /L: lower case
 *         │ │      └ the whole text must match
 *         │ └ the text: $0 is the realm, $1 the name, $2 the host
 *         └ how many components the principal has
 *   DEFAULT                                       alice@OWN.REALM          →  alice
 * ```
 */
export interface PrincipalRules {
  /** @returns undefined if no rule applies, or the one that does gives a name with `/` or `@` */
  shortName(principal: {
    readonly name: string;
    /** Undefined for a principal of one component. */
    readonly host: string | undefined;
    readonly realm: string;
  }): string | undefined;
}

/** @param components name, then host; the realm stands before both */
type Rule = (components: readonly [realm: string, ...string[]]) => string | undefined;

const RULE =
  /^\s*(?:DEFAULT|RULE:\[(\d+):([^\]]*)\](?:\(([^)]*)\))?(?:s\/([^/]*)\/([^/]*)\/(g)?)?\/?(L)?)(?=\s|RULE:|DEFAULT|$)/;
const NOT_SIMPLE = /[/@]/;

/**
 * @param realm to which `DEFAULT` applies
 * @returns the first problem, as a sentence without its subject
 */
export function parsePrincipalRules(text: string, realm: string): PrincipalRules | string {
  const rules: Rule[] = [];
  for (let rest = text.trim(); rest !== ""; ) {
    const found = RULE.exec(rest);
    if (found === null) return `has rules RULE:[N:TEXT](PATTERN)s/FROM/TO/g and DEFAULT, found "${rest}"`;
    const rule = ruleOf(found, realm);
    if (typeof rule === "string") return `has a rule "${found[0].trim()}" ${rule}`;
    rules.push(rule);
    rest = rest.slice(found[0].length).trim();
  }
  if (rules.length === 0) return "is empty; it lists rules, such as DEFAULT";
  return {
    shortName: ({ name, host, realm }) => {
      const components = [realm, name, ...(host === undefined ? [] : [host])] as const;
      for (const rule of rules) {
        const short = rule(components);
        if (short !== undefined) return NOT_SIMPLE.test(short) || short === "" ? undefined : short;
      }
      return undefined;
    },
  };
}

function ruleOf(found: RegExpExecArray, ownRealm: string): Rule | string {
  const [, count, format, match, from, to, isGlobal, isLower] = found;
  if (count === undefined || format === undefined) return ([realm, name]) => (realm === ownRealm ? name : undefined);
  const componentCount = Number(count);
  for (const [, index = ""] of format.matchAll(/\$(\d*)/g)) {
    if (index === "" || Number(index) > componentCount) return `whose $${index} is none of $0 to $${componentCount}`;
  }
  let [whole, part]: (RegExp | undefined)[] = [];
  try {
    if (match !== undefined) whole = new RegExp(`^(?:${match})$`);
    if (from !== undefined) part = new RegExp(from, isGlobal === undefined ? "" : "g");
  } catch (error) {
    return `whose pattern cannot be read: ${error instanceof Error ? error.message : error}`;
  }
  const replaced = part === undefined || to === undefined ? undefined : replacementOf(to, part);
  if (typeof replaced === "string") return replaced;
  return (components) => {
    if (components.length - 1 !== componentCount) return undefined;
    const text = format.replaceAll(/\$(\d+)/g, (_, index: string) => components[Number(index)] ?? "");
    if (whole !== undefined && !whole.test(text)) return undefined;
    const short = replaced === undefined ? text : replaced(text);
    return isLower === undefined ? short : short.toLowerCase();
  };
}

/** A replacement as Java writes it: `$1` is a group, and `\` takes the next character as it is. */
function replacementOf(to: string, from: RegExp): ((text: string) => string) | string {
  const groupCount = (new RegExp(`${from.source}|`).exec("")?.length ?? 1) - 1;
  const parts: (string | number)[] = [];
  for (const [token, group, escaped] of to.matchAll(/\$(\d?)|\\(.?)|[^$\\]+/gs)) {
    if (group !== undefined) {
      if (group === "" || Number(group) > groupCount) return `whose replacement has no group ${token}`;
      parts.push(Number(group));
    } else if (escaped === "") return "whose replacement ends in the middle of an escape";
    else parts.push(escaped ?? token);
  }
  return (text) =>
    text.replace(from, (...found: unknown[]) =>
      parts.map((part) => (typeof part === "string" ? part : `${found[part] ?? ""}`)).join(""),
    );
}
