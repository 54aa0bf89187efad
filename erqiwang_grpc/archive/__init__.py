"""The read side: lists and their summaries, records, the feed of public events, the audit, retention."""
