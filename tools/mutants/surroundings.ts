import { type Mutated, SURROUNDINGS } from "@zooid/simulator/internal/mutants/generate";

type ReplacementsOf = Mutated["replacementsOf"];
type Node = Parameters<ReplacementsOf>[0];
type Replacement = ReturnType<ReplacementsOf>[number];

/** A word with a blank beside it: a message to people. */
const WORD = /[a-z]{2}[.,;:]? | [a-z]{2}/i;

/** The sources around the replication, and every mutation of them. */
export const AROUND: Mutated = {
  folders: SURROUNDINGS.folders,
  replacementsOf: (node, text) => [...SURROUNDINGS.replacementsOf(node, text), ...partReplacementsOf(node, text)],
};

/** A condition loses one of its operands; a key that is made of an array loses one of its parts. */
export function partReplacementsOf(node: Node, text: (node: Node) => string): readonly Replacement[] {
  switch (node.type) {
    case "LogicalExpression":
      if (node.operator === "??") return [];
      return [node.left, node.right].map((operand) => ({ ...placeOf(node), operator: "operand", text: text(operand) }));
    case "CallExpression": {
      const array = keyArrayOf(node);
      if (array === undefined) return [];
      const elements = array.elements.filter((element) => element !== null);
      return elements.map((_, dropped) => {
        const left = elements.filter((_, i) => i !== dropped).map((element) => text(element));
        return { ...placeOf(array), operator: "key element", text: `[${left.join(", ")}]` };
      });
    }
    default:
      return [];
  }
}

type ArrayNode = Extract<Node, { readonly type: "ArrayExpression" }>;

/** The array of `[a, b].join(…)` or of `JSON.stringify([a, b])`, unless people read it. */
function keyArrayOf(node: Node): ArrayNode | undefined {
  if (node.type !== "CallExpression" || node.callee.type !== "MemberExpression") return undefined;
  const { object, property } = node.callee;
  if (property.type !== "Identifier") return undefined;
  const [first] = node.arguments;
  const isText = object.type === "Identifier" && object.name === "JSON" && property.name === "stringify";
  const array = property.name === "join" ? object : isText ? first : undefined;
  if (array?.type !== "ArrayExpression" || array.elements.length < 2) return undefined;
  return array.elements.some((element) => isMessage(element)) ? undefined : array;
}

function isMessage(element: Node | null): boolean {
  if (element?.type === "Literal") return WORD.test(String(element.value));
  return element?.type === "TemplateLiteral" && element.quasis.some(({ value }) => WORD.test(value.raw));
}

function placeOf({ start, end }: Node): { readonly start: number; readonly end: number } {
  return { start, end };
}
