"""The sections of an explanation: how much context, which, of what, and how sure."""
