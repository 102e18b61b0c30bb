"""Registering the hook in the hosts' own settings, taking it out again, and seeing whether it works.

``jsontext``  a JSON file edited as text     ``files``    what is written where, and that it can be taken back
``entries``   which hook entries are ours    ``receipts`` what an install did, kept until it is undone
``plan``      what an install would change   ``check``    is the guard of a host really on

What differs from host to host is in ``jevhook/hosts/<host>_install.py``.
"""
