import { Icon } from "./icon.tsx";

/** A failure where it happened; nothing without a text. */
export function Failure({ text }: { readonly text: string | undefined }) {
  if (text === undefined) return null;
  return (
    <p class="failure" role="alert">
      <Icon name="warning" />
      <span>{text}</span>
    </p>
  );
}
