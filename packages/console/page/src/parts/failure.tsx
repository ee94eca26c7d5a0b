import { visible } from "../model/formats.ts";
import { Icon } from "./icon.tsx";

/**
 * A failure where it happened, in words that may have a node's name in them; nothing without a
 * text.
 */
export function Failure({ text }: { readonly text: string | undefined }) {
  if (text === undefined) return null;
  return (
    <p class="failure" role="alert">
      <Icon name="warning" />
      <span>{visible(text)}</span>
    </p>
  );
}
