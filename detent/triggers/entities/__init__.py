"""Entity events: changes of records, and the rules that they start.

An event is durable before its sender gets an answer. The process that received it matches it with the rules of its
entity, in memory, and starts a run of each. A run's request id names event and rule, so each pair starts once, however
often an event is matched. Then the event is deleted, or stays as a sample for people. A poller takes the events that a
process left behind, and those that an application wrote in a transaction of its own.
"""
