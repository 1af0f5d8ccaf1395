/** Catches what a page throws, so that the bar stays and a person can go elsewhere. */
import { Component, type ReactNode } from "react";
import { Failure } from "../parts/states";

export class Trouble extends Component<{ children: ReactNode; place: string }, { error: unknown }> {
  override state: { error: unknown } = { error: undefined };

  static getDerivedStateFromError(error: unknown): { error: unknown } {
    return { error };
  }

  override componentDidUpdate(before: { place: string }): void {
    if (before.place !== this.props.place && this.state.error !== undefined) this.setState({ error: undefined });
  }

  override render(): ReactNode {
    const { error } = this.state;
    if (error === undefined) return this.props.children;
    return <Failure error={error} what="This page could not be shown" onRetry={() => location.reload()} />;
  }
}
