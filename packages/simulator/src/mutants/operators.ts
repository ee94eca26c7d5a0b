import type { AnyNode, BinaryExpression } from "acorn";

/** A piece of source that is replaced. */
export interface Replacement {
  readonly operator: string;
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

type BinaryOperator = BinaryExpression["operator"];

/** Boundaries, equality and arithmetic. */
const BINARY: { readonly [operator in BinaryOperator]?: readonly [operator: string, text: string] } = {
  "<": ["comparison boundary", "<="],
  "<=": ["comparison boundary", "<"],
  ">": ["comparison boundary", ">="],
  ">=": ["comparison boundary", ">"],
  "===": ["equality", "!=="],
  "!==": ["equality", "==="],
  "+": ["arithmetic", "-"],
  "-": ["arithmetic", "+"],
  "*": ["arithmetic", "/"],
  "/": ["arithmetic", "*"],
  "%": ["arithmetic", "*"],
};

/** A word with a blank beside it. */
const WORD = /[a-z]{2}[.,;:]? | [a-z]{2}/i;

/** The mutations of one node, by operator class. @param text the source of a node */
export function replacementsOf(node: AnyNode, text: (node: AnyNode) => string): readonly Replacement[] {
  const whole = (operator: string, replacement: string): Replacement => ({
    operator,
    start: node.start,
    end: node.end,
    text: replacement,
  });
  switch (node.type) {
    case "IfStatement":
    case "ConditionalExpression":
      return ["false", "true"].map((value) => ({ ...at(node.test), operator: "condition", text: value }));
    case "WhileStatement":
    case "ForStatement":
      return node.test == null ? [] : [{ ...at(node.test), operator: "condition", text: "false" }];
    case "UnaryExpression":
      return node.operator === "!" ? [whole("negation", `(${text(node.argument)})`)] : [];
    case "LogicalExpression": {
      if (node.operator === "??") return [];
      return [whole("logical operator", joined(node, node.operator === "&&" ? "||" : "&&", text))];
    }
    case "BinaryExpression": {
      const [operator, replacement] = BINARY[node.operator] ?? [];
      if (operator === undefined || replacement === undefined) return [];
      if (node.operator === "+" && (isText(node.left) || isText(node.right))) return [];
      return [whole(operator, joined(node, replacement, text))];
    }
    case "Literal":
      return typeof node.value === "boolean" ? [whole("boolean", String(!node.value))] : [];
    case "UpdateExpression":
      return [
        whole(
          "arithmetic",
          text(node).replace(/\+\+|--/, (sign) => (sign === "++" ? "--" : "++")),
        ),
      ];
    case "AssignmentExpression": {
      if (node.operator !== "+=" && node.operator !== "-=") return [];
      const sign = node.operator === "+=" ? "-=" : "+=";
      return [whole("arithmetic", `${text(node.left)} ${sign} ${text(node.right)}`)];
    }
    case "ExpressionStatement":
      return [whole("statement", ";")];
    case "ReturnStatement":
      return node.argument == null ? [whole("early return", ";")] : [];
    default:
      return [];
  }
}

/** Further mutations for code that waits, makes keys, and compares what belongs together. */
export function edgeReplacementsOf(node: AnyNode, text: (node: AnyNode) => string): readonly Replacement[] {
  switch (node.type) {
    case "AwaitExpression":
      return [{ ...at(node), operator: "await", text: `(${text(node.argument)})` }];
    case "TemplateLiteral":
      // A key of several parts loses one of them; a text with words is a message to people.
      return node.expressions.length < 2 || node.quasis.some(({ value }) => WORD.test(value.raw))
        ? []
        : node.expressions.map((part) => ({ ...at(part), operator: "key part", text: '""' }));
    case "BinaryExpression": {
      const isComparison = node.operator === "===" || node.operator === "!==";
      if (!isComparison || !isPlace(node.left) || !isPlace(node.right)) return [];
      return [{ ...at(node.right), operator: "wrong neighbour", text: text(node.left) }];
    }
    default:
      return [];
  }
}

/** A variable or a member, which another one stands beside. */
function isPlace({ type }: AnyNode): boolean {
  return type === "Identifier" || type === "MemberExpression";
}

function at({ start, end }: AnyNode): { readonly start: number; readonly end: number } {
  return { start, end };
}

function joined(node: { left: AnyNode; right: AnyNode }, operator: string, text: (node: AnyNode) => string): string {
  return `(${text(node.left)}) ${operator} (${text(node.right)})`;
}

function isText(node: AnyNode): boolean {
  return node.type === "TemplateLiteral" || (node.type === "Literal" && typeof node.value === "string");
}
