import { describe, expect, test } from "vitest";
import { parsePrincipalRules } from "./principal-rules.ts";

function shortName(rules: string, principal: string): string | undefined {
  const parsed = parsePrincipalRules(rules, "OWN");
  if (typeof parsed === "string") throw new Error(parsed);
  const [names = "", realm = ""] = principal.split("@");
  const [name = "", host] = names.split("/");
  return parsed.shortName({ name, host, realm });
}

describe("a rule gives", () => {
  test.each<[string, string, string, string | undefined]>([
    ["the name in the own realm", "DEFAULT", "alice@OWN", "alice"],
    ["the name of a service, too", "DEFAULT", "hbase/node1@OWN", "hbase"],
    ["no name in another realm by DEFAULT", "DEFAULT", "alice@OTHER", undefined],
    ["a name in another realm by its pattern", "RULE:[1:$1@$0](.*@OTHER)s/@.*//", "alice@OTHER", "alice"],
    ["no name where the pattern fits only a part", "RULE:[1:$1@$0](alice)s/@.*//", "alice@OTHER", undefined],
    ["no name where the count of components differs", "RULE:[2:$1]", "alice@OWN", undefined],
    ["a name by both components", "RULE:[2:$1-$2]", "hbase/node1@OTHER", "hbase-node1"],
    ["a fixed name", "RULE:[2:$1@$0](hbase@OWN)s/.*/storage/", "hbase/node1@OWN", "storage"],
    ["the first replacement only", "RULE:[1:$1]s/a/o/", "banana@OWN", "bonana"],
    ["every replacement with g", "RULE:[1:$1]s/a/o/g", "banana@OWN", "bonono"],
    ["groups and escapes of Java", "RULE:[1:$1]s/([a-z]+)-([a-z]+)/$2\\$$1/", "left-right@OWN", "right$left"],
    ["lower case with L", "RULE:[1:$1]/L", "ALICE@OWN", "alice"],
    ["lower case behind a replacement", "RULE:[1:$1]s/B/C/g/L", "BOB@OWN", "coc"],
    ["no name with a realm left in it", "RULE:[1:$1@$0] DEFAULT", "alice@OWN", undefined],
    ["no empty name", "RULE:[1:$1]s/.*//", "alice@OWN", undefined],
    ["its own name before later rules", "RULE:[1:$1]s/alice/first/ RULE:[1:$1]s/alice/second/", "alice@OWN", "first"],
    ["way to the next without a space", "RULE:[2:$1]RULE:[1:$1@$0](.*@OTHER)s/@.*//DEFAULT", "bob@OTHER", "bob"],
    ["way to the next on its own line", "RULE:[2:$1]\n  DEFAULT", "alice@OWN", "alice"],
  ])("%s", (_, rules, principal, name) => expect(shortName(rules, principal)).toBe(name));
});

test.each<[string, string]>([
  ["nothing", " "],
  ["another word", "NONE"],
  ["a rule without its end", "RULE:[1:$1"],
  ["something behind a rule", "RULE:[1:$1]x"],
  ["a component that no such principal has", "RULE:[1:$2]"],
  ["a dollar without a number", "RULE:[1:$]"],
  ["a pattern that cannot be read", "RULE:[1:$1]([)"],
  ["a group that the pattern lacks", "RULE:[1:$1]s/a/$1/"],
  ["half an escape", "RULE:[1:$1]s/a/\\/"],
])("%s is a problem", (_, rules) => expect(parsePrincipalRules(rules, "OWN")).toEqual(expect.any(String)));
