"""What every surface of the engine shares, be it a command line, a server or a tool of a model.

The filters of a question, the JSON form of what comes back, the status that an error ends in.
"""
